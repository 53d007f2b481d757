// Package bench measures what speculation gains, and checks that it changes nothing.
//
// Each prompt is answered four times: plain and speculative, greedy and sampled. The two greedy texts must
// be the same token by token. The speed-up is plain over speculative milliseconds per token. The time
// includes all that a draft model reads, but not the target's reading of the prompt, which plain decoding
// needs, too. The interval of the speed-up comes from resampling whole prompts, because the tokens of one
// reply are not independent. The report also has the speed-up that the formula of speculative decoding
// predicts from this run's acceptance and costs. If the measured and the predicted speed-up differ, that
// needs an explanation.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"specula/engine/event"
)

// Session is a conversation to measure on.
type Session interface {
	// Change sets a setting from the next reply on.
	Change(name, value string) error
	// Reset empties the caches, so that no reply profits from an earlier one.
	Reset() error
	// Reply answers one prompt as the first message of a conversation.
	Reply(ctx context.Context, prompt string) iter.Seq[event.Event]
	// CompareWithDecoding runs the passes of a reply again, and also decodes the reply token by
	// token. It returns at how many positions it compared the scores of both, and at how many of
	// these the scores differ in at least one bit.
	CompareWithDecoding(ctx context.Context, prompt string, rounds []event.Round) (compared, differ int, err error)
}

// Options say what to measure. γ, its rule and the proposer are set in the session.
type Options struct {
	Prompts     []string
	GenTokens   int     // largest number of tokens of a reply
	Temperature float64 // temperature of the sampled replies; 0 means 0.7
	Seed        int64   // the sampled reply to prompt i (from 0) has seed Seed + i; negative: as 1
	Repeats     int     // how often each reply is written; the one with the median time per token counts; 0: once
}

func (o Options) complete() Options {
	if o.Temperature == 0 {
		o.Temperature = 0.7
	}
	if o.Seed < 0 {
		o.Seed = 1
	}
	o.Repeats = max(1, o.Repeats)
	return o
}

// seedOfIntervals makes the resampling repeatable: the same measurements give the same interval.
const seedOfIntervals = 1

// Run measures. It calls progress, which may be nil, after each prompt of each repeat. A run without prompts is
// an error.
func Run(ctx context.Context, s Session, o Options, progress func(done, total int)) (*Report, error) {
	if len(o.Prompts) == 0 {
		return nil, errors.New("there are no prompts to measure with")
	}
	if err := s.Change("sampling.max_tokens", strconv.Itoa(o.GenTokens)); err != nil {
		return nil, fmt.Errorf("setting the length of replies: %w", err)
	}
	b := newBench(s, o)
	// One reply is written before the measurement. Otherwise the first prompt would pay for cold caches and
	// sleeping threads.
	if _, err := b.reply(ctx, o.Prompts[0], arm{speculative: true}, b.options.Seed); err != nil {
		return nil, err
	}
	done := 0
	for repeat := range b.options.Repeats {
		for i, prompt := range o.Prompts {
			if err := b.prompt(ctx, repeat, i, prompt); err != nil {
				return nil, err
			}
			if done++; progress != nil {
				progress(done, b.options.Repeats*len(o.Prompts))
			}
		}
	}
	if err := b.compareWithDecoding(ctx); err != nil {
		return nil, err
	}
	return b.report(), nil
}

// compareWithDecoding runs the passes of the first speculative greedy reply to each prompt again, and compares
// their scores with those of decoding the reply token by token. Run calls it after all measurements.
func (b *bench) compareWithDecoding(ctx context.Context) error {
	for i, prompt := range b.options.Prompts {
		compared, differ, err := b.session.CompareWithDecoding(ctx, prompt, b.replies[arm{speculative: true}][i][0].passes)
		if err != nil {
			return fmt.Errorf("comparing the scores of the reply to %.64q: %w", prompt, err)
		}
		b.compared += compared
		b.drifted += differ
	}
	return nil
}

// arm is one of the four ways to answer a prompt.
type arm struct{ sampled, speculative bool }

var arms = [...]arm{{false, false}, {false, true}, {true, false}, {true, true}}

type bench struct {
	session Session
	options Options
	replies map[arm][][]reply // for each arm: the replies to each prompt in each repeat
	differs []int             // for each prompt: index of the first token that differed between the greedy texts of a repeat; -1 if none did

	// The number of positions at which scores of verification were compared with those of decoding,
	// and how many of them differ.
	compared, drifted int
}

func newBench(s Session, o Options) *bench {
	b := &bench{session: s, options: o.complete(), replies: map[arm][][]reply{}, differs: slices.Repeat([]int{-1}, len(o.Prompts))}
	for _, a := range arms {
		b.replies[a] = make([][]reply, len(o.Prompts))
	}
	return b
}

func (b *bench) prompt(ctx context.Context, repeat, i int, prompt string) error {
	for _, sampled := range []bool{false, true} {
		for turn := range 2 {
			// The order alternates, so that a machine that gets faster or slower favours neither plain nor speculative.
			a := arm{sampled, (turn == 0) == ((i+repeat)%2 == 0)}
			r, err := b.reply(ctx, prompt, a, b.options.Seed+int64(i))
			if err != nil {
				return err
			}
			if a != (arm{speculative: true}) || repeat > 0 {
				r.passes = nil // only the passes of the first speculative greedy reply are run again
			}
			b.replies[a][i] = append(b.replies[a][i], r)
		}
	}
	plain, speculative := b.replies[arm{}][i][repeat].ids, b.replies[arm{speculative: true}][i][repeat].ids
	if b.differs[i] < 0 {
		b.differs[i] = firstDifference(plain, speculative)
	}
	return nil
}

// pair is one prompt answered plainly and speculatively.
type pair struct{ plain, speculative reply }

// pairs returns the replies of median time, by prompt.
func (b *bench) pairs(sampled bool) []pair {
	all := make([]pair, len(b.options.Prompts))
	for i := range all {
		all[i] = pair{median(b.replies[arm{sampled, false}][i]), median(b.replies[arm{sampled, true}][i])}
	}
	return all
}

// median returns the reply of median time per token. Of an even number of replies it returns the slower
// of the two in the middle.
func median(replies []reply) reply {
	sorted := slices.SortedStableFunc(slices.Values(replies), func(x, y reply) int { return cmp.Compare(x.msPerToken(), y.msPerToken()) })
	return sorted[len(sorted)/2]
}

// reply answers one prompt as the arm a says.
func (b *bench) reply(ctx context.Context, prompt string, a arm, seed int64) (reply, error) {
	temperature := 0.0
	if a.sampled {
		temperature = b.options.Temperature
	}
	for _, change := range [][2]string{
		{"sampling.temperature", strconv.FormatFloat(temperature, 'g', -1, 64)},
		{"speculation.enabled", strconv.FormatBool(a.speculative)},
		{"sampling.seed", strconv.FormatInt(seed, 10)},
	} {
		if err := b.session.Change(change[0], change[1]); err != nil {
			return reply{}, fmt.Errorf("setting %s: %w", change[0], err)
		}
	}
	if err := b.session.Reset(); err != nil {
		return reply{}, fmt.Errorf("clearing the caches: %w", err)
	}
	var r reply
	for e := range b.session.Reply(ctx, prompt) {
		r.add(e)
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case r.failed != "":
		return r, fmt.Errorf("answering %.64q: %s", prompt, r.failed)
	case !r.ended:
		return r, fmt.Errorf("answering %.64q: the reply did not end", prompt)
	}
	return r, nil
}

// firstDifference returns the first index at which a and b differ, or -1.
func firstDifference(a, b []int32) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

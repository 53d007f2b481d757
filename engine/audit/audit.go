// Package audit checks a server's speculation from outside. It compares the replies to the same prompts
// with and without speculation at temperature 0, where speculation must change nothing.
//
// The speculative side is the server's own rounds, which are watched. The plain side is a second server
// without speculation, or the same server, asked for one token per request: no server speculates for one
// token. At the first token that differs, the plain side's log-probabilities say how close its two best
// tokens were. If they nearly tie, a batch of another size may choose either; a wide margin means a fault.
package audit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"specula/engine/event"
)

// Session is a conversation with a server.
type Session interface {
	Reply(ctx context.Context, prompt string) iter.Seq[event.Event]
}

// Counters are a server's own counts of draft tokens: all, and those that it kept.
type Counters struct{ Drafted, Accepted float64 }

// Options say which prompts to use, and how to measure.
type Options struct {
	Prompts []string
	// Streams: the plain side is a stream, so its speed can be compared.
	Streams bool
	// Count reads the server's counters; nil: the server has none.
	Count func(ctx context.Context) (Counters, error)
}

// reply is one answer.
type reply struct {
	tokens []event.Token // committed
	end    event.ReplyEnded
	ms     float64  // milliseconds of all rounds except the first, which includes reading the prompt
	timed  int      // tokens of the rounds that ms counts
	own    Counters // what the server told with the rounds of this reply
}

// Run asks both sides. progress, which may be nil, gets the number of prompts done.
func Run(ctx context.Context, speculative, plain Session, o Options, progress func(done, total int)) (*Report, error) {
	if len(o.Prompts) == 0 {
		return nil, errors.New("there are no prompts to ask")
	}
	before, err := o.count(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Prompts: len(o.Prompts), Divergences: []Divergence{}}
	var told Counters
	for i, prompt := range o.Prompts {
		var pair [2]reply
		sessions := [2]Session{speculative, plain}
		for turn := range 2 { // the order alternates, so that a server that slows down favours neither side
			side := (turn + i) % 2
			if pair[side], err = ask(ctx, sessions[side], prompt); err != nil {
				return nil, err
			}
		}
		r.add(prompt, &pair[0], &pair[1], o.Streams)
		told.Drafted, told.Accepted = told.Drafted+pair[0].own.Drafted, told.Accepted+pair[0].own.Accepted
		if progress != nil {
			progress(i+1, len(o.Prompts))
		}
	}
	after, err := o.count(ctx)
	if err != nil {
		return nil, err
	}
	r.conclude(o, told, Counters{after.Drafted - before.Drafted, after.Accepted - before.Accepted})
	return r, nil
}

func (o *Options) count(ctx context.Context) (Counters, error) {
	if o.Count == nil {
		return Counters{}, nil
	}
	return o.Count(ctx)
}

// ask writes one reply.
func ask(ctx context.Context, s Session, prompt string) (r reply, err error) {
	var rounds []event.Round
	for e := range s.Reply(ctx, prompt) {
		switch e := e.(type) {
		case event.Failed:
			err = errors.New(e.Error)
		case event.Round:
			rounds = append(rounds, e)
		case event.ReplyEnded:
			r.end = e
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return r, err
	}
	for i := range rounds {
		r.end.Served.Complete(&rounds[i])
		if s := rounds[i].Server; s != nil && s.Drafted > 0 {
			r.own.Drafted, r.own.Accepted = r.own.Drafted+float64(s.Drafted), r.own.Accepted+float64(s.Kept)
		}
		committed := rounds[i].Committed()
		r.tokens = append(r.tokens, committed...)
		if i > 0 {
			r.ms, r.timed = r.ms+rounds[i].MS(), r.timed+len(committed)
		}
	}
	return r, nil
}

// firstDifference is the index of the first token at which two texts differ; -1 if they are the same.
func firstDifference(a, b []int32) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// margin returns the difference of the two best log-probabilities at a token, in nats; nil if not known.
func margin(t *event.Token) *float64 {
	if len(t.LogProbs) < 2 {
		return nil
	}
	best := slices.Clone(t.LogProbs)
	slices.SortFunc(best, func(a, b event.Candidate) int { return cmp.Compare(b.P, a.P) })
	m := best[0].P - best[1].P
	return &m
}

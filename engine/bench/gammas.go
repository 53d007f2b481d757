package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"specula/engine/config"
)

// GammaOptions say which draft lengths to compare with the cost-aware rule, and on which prompts.
type GammaOptions struct {
	Gammas       []int // fixed draft lengths; 0 is plain decoding, and is added if it is missing
	Sets         []PromptSet
	Temperatures []float64
	GenTokens    int
	Repeats      int // how often each reply is measured
	Seed         int64
}

// PromptSet is a kind of prompt.
type PromptSet struct {
	Name    string
	Prompts []string
}

// Choose returns the sets with the given names; nil means all. An unknown name is a
// *config.ValueError. Choose overwrites the slice sets, and the result lies in its memory.
func Choose(sets []PromptSet, names []string) ([]PromptSet, error) {
	var known []string
	for _, set := range sets {
		known = append(known, set.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, &config.ValueError{Setting: "--sets", Got: strconv.Quote(name), Allowed: "any of " + strings.Join(known, ", ")}
		}
	}
	if names == nil {
		return sets, nil
	}
	return slices.DeleteFunc(sets, func(set PromptSet) bool { return !slices.Contains(names, set.Name) }), nil
}

// Opened is a session in which γ is chosen in one way only. So no way of choosing learns from the
// rounds of another way, or finds a warmer cache. All sessions should share their models: a second copy
// of a model would have to be fetched into the processor's caches at each turn.
type Opened interface {
	Session
	Close() error
}

// CompareGammas answers each prompt of each set at each temperature with each fixed γ and with the
// cost-aware rule, several times. The order changes, so that a machine of varying speed favours no way
// of choosing γ. Each repeat has a seed of its own, so that no way is judged by a single text: even
// with the same seed, the text depends on γ, and texts differ in speed.
//
// The time of a prompt is the mean of the middle half of its times. For each set and temperature, each
// way of choosing γ gets its own session, and a new session after every sessionRepeats repeats. So the
// cost-aware rule learns only from the rounds of that session.
//
// progress may be nil; it is called after each cell. No sets, no temperatures or no repeats are an
// error.
func CompareGammas(ctx context.Context, open func(context.Context) (Opened, error), o GammaOptions, progress func(done, total int)) (*GammaReport, error) {
	if len(o.Sets) == 0 || len(o.Temperatures) == 0 || o.Repeats < 1 {
		return nil, errors.New("comparing draft lengths needs prompts, temperatures and at least one repeat")
	}
	if !slices.Contains(o.Gammas, 0) {
		o.Gammas = append([]int{0}, o.Gammas...)
	}
	r := &GammaReport{Gammas: o.Gammas, GenTokens: o.GenTokens, Repeats: o.Repeats}
	for _, set := range o.Sets {
		for _, temperature := range o.Temperatures {
			cell, err := compareCell(ctx, open, o, set, temperature)
			if err != nil {
				return nil, fmt.Errorf("%s at temperature %g: %w", set.Name, temperature, err)
			}
			r.Cells = append(r.Cells, *cell)
			if progress != nil {
				progress(len(r.Cells), len(o.Sets)*len(o.Temperatures))
			}
		}
	}
	return r, nil
}

// chooser is one way of choosing γ.
type chooser struct {
	session         Opened
	change          [][2]string // names and values of the settings that choose γ in this way
	ids             [][]int32   // by prompt: the tokens of its latest reply
	times           [][]float64 // by prompt and repeat: milliseconds per token
	drafted, rounds float64
}

func compareCell(ctx context.Context, open func(context.Context) (Opened, error), o GammaOptions, set PromptSet, temperature float64) (cell *GammaCell, err error) {
	var all []*chooser
	for _, gamma := range o.Gammas {
		all = append(all, newChooser(len(set.Prompts), "fixed", gamma))
	}
	all = append(all, newChooser(len(set.Prompts), "cost-aware", -1))
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.close())
		}
	}()
	order := rand.New(rand.NewPCG(uint64(o.Seed), 0)) // random, because the state of the processor's caches depends on the previous reply
	for from := 0; from < o.Repeats; from += sessionRepeats {
		for _, turn := range order.Perm(len(all)) {
			if err := all[turn].renew(ctx, open); err != nil {
				return nil, err
			}
		}
		// One turn comes before the measurement, because caches are cold at first and threads sleep.
		if err := takeTurns(ctx, all, order, o, -1, set.Prompts[:1], temperature); err != nil {
			return nil, err
		}
		for repeat := from; repeat < min(from+sessionRepeats, o.Repeats); repeat++ {
			if err := takeTurns(ctx, all, order, o, repeat, set.Prompts, temperature); err != nil {
				return nil, err
			}
		}
	}
	return newCell(set.Name, temperature, o.Gammas, all), nil
}

// sessionRepeats is the most repeats in one session. Two sessions differ a little in speed, because
// their memory lies in different places. A comparison with more repeats therefore uses several
// sessions, which are opened in varying order.
const sessionRepeats = 50

// takeTurns lets each chooser answer each prompt.
func takeTurns(ctx context.Context, all []*chooser, order *rand.Rand, o GammaOptions, repeat int, prompts []string, temperature float64) error {
	for i, prompt := range prompts {
		for _, turn := range order.Perm(len(all)) {
			if err := all[turn].answer(ctx, o, i, repeat, prompt, temperature); err != nil {
				return err
			}
		}
	}
	return nil
}

func newChooser(prompts int, rule string, gamma int) *chooser {
	c := &chooser{times: make([][]float64, prompts), ids: make([][]int32, prompts)}
	c.change = [][2]string{{"speculation.gamma_rule", rule}, {"speculation.costs", "measured"}, {"speculation.enabled", strconv.FormatBool(gamma != 0)}}
	if gamma > 0 {
		c.change = append(c.change, [2]string{"speculation.gamma", strconv.Itoa(gamma)})
	}
	return c
}

// renew replaces the session by a new one.
func (c *chooser) renew(ctx context.Context, open func(context.Context) (Opened, error)) error {
	if err := c.close(); err != nil {
		return err
	}
	session, err := open(ctx)
	if err != nil {
		return err
	}
	c.session = session
	return nil
}

func (c *chooser) close() error {
	if c.session == nil {
		return nil
	}
	err := c.session.Close()
	c.session = nil
	return err
}

func (c *chooser) answer(ctx context.Context, o GammaOptions, i, repeat int, prompt string, temperature float64) error {
	b := bench{session: c.session, options: Options{Temperature: temperature}}
	changes := append([][2]string{{"sampling.max_tokens", strconv.Itoa(o.GenTokens)}}, c.change...)
	for _, change := range changes {
		if err := c.session.Change(change[0], change[1]); err != nil {
			return fmt.Errorf("setting %s: %w", change[0], err)
		}
	}
	speculative := c.change[2][1] == "true"
	r, err := b.reply(ctx, prompt, arm{sampled: temperature > 0, speculative: speculative}, o.Seed+int64(i)+1000*int64(repeat+1))
	if err != nil || repeat < 0 || r.totals.Tokens == 0 {
		return err
	}
	c.ids[i] = r.ids
	c.times[i] = append(c.times[i], r.msPerToken())
	c.drafted += float64(r.totals.Drafted)
	c.rounds += float64(r.totals.Rounds)
	return nil
}

// msPerToken returns the mean over the prompts of each prompt's time per token.
func (c *chooser) msPerToken() float64 {
	var m mean
	for _, times := range c.times {
		if len(times) > 0 {
			m.add(midmean(times), 1)
		}
	}
	return m.value()
}

// midmean returns the mean of the middle half, or of all numbers if there are fewer than four.
func midmean(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	outside := len(sorted) / 4
	var m mean
	for _, v := range sorted[outside : len(sorted)-outside] {
		m.add(v, 1)
	}
	return m.value()
}

func newCell(name string, temperature float64, gammas []int, all []*chooser) *GammaCell {
	cell := &GammaCell{Set: name, Temperature: temperature, Matched: true}
	plain := all[slices.Index(gammas, 0)]
	aware := all[len(all)-1]
	for _, c := range all[:len(all)-1] {
		cell.Fixed = append(cell.Fixed, over(plain.msPerToken(), c.msPerToken()))
	}
	cell.PlainMS = plain.msPerToken()
	cell.CostAware = over(plain.msPerToken(), aware.msPerToken())
	cell.Drafted = over(aware.drafted, aware.rounds)
	for i, fixed := range cell.Fixed {
		if fixed > cell.BestFixed {
			cell.BestFixed, cell.BestGamma = fixed, gammas[i]
		}
	}
	if temperature == 0 {
		for _, c := range all {
			for i := range c.ids {
				cell.Matched = cell.Matched && slices.Equal(c.ids[i], plain.ids[i])
			}
		}
	}
	return cell
}

// geometric returns the geometric mean.
func geometric(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(max(len(x), 1)))
}

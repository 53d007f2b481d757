package shape_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"specula/engine/sample"
	"specula/engine/spec"
)

// quality is how good a draft is.
type quality int

const (
	perfect quality = iota // what the target would draw
	hostile                // the token that is forbidden or least probable
	random
	sampled // drawn from some distribution
	empty
	qualities
)

// draft makes a draft of n tokens, each with the distribution that it was drawn from.
func (t *trial) draft(good quality, n int, reply []int32, u sample.Uniforms) (spec.Draft, [][]float64) {
	var d spec.Draft
	var q [][]float64
	if good == empty {
		return d, nil
	}
	for i := range n {
		so := slices.Concat(reply, d.Tokens)
		p := t.distribution(t.prompt, so)
		if p == nil {
			p = make([]float64, len(t.Texts))
		}
		hot := int32(t.rng.IntN(len(t.Texts)))
		switch good {
		case perfect:
			if hot = pick(p, u.Uniform(sample.TargetDraw, 0, len(reply)+i)); hot < 0 {
				return d, q
			}
		case hostile:
			for id := range p {
				if p[id] < p[hot] {
					hot = int32(id)
				}
			}
		case sampled:
			dist := make([]float64, len(t.Texts))
			sum := 0.0
			for id := range dist {
				if t.rng.IntN(4) > 0 || id == int(hot) {
					dist[id] = t.rng.Float64() + p[id]
					sum += dist[id]
				}
			}
			for id := range dist {
				dist[id] /= sum
			}
			d.Tokens = append(d.Tokens, pick(dist, t.rng.Float64()))
			d.Q, q = append(d.Q, sample.Dist{P: dist}), append(q, dist)
			continue
		}
		one := make([]float64, len(t.Texts))
		one[hot] = 1
		d.Tokens, d.Q, q = append(d.Tokens, hot), append(d.Q, sample.OneHot(hot)), append(q, one)
	}
	return d, q
}

// play writes a reply in rounds and compares each round with the oracle's. It returns the
// difference, or "".
func (t *trial) play(tb testing.TB, seed uint64, change func(sample.Shapers) sample.Shapers) string {
	const length = 10
	v, u := spec.NewVerifier(), sample.NewPhilox(seed, 1)
	t.reshape(tb, nil)
	t.shapers = change(t.shapers)
	var reply []int32
	isStop := func(id int32) bool { return slices.Contains(t.Stops, id) }
	for number := 0; len(reply) < length; number++ {
		if t.rng.IntN(8) == 0 {
			t.Settings = t.anySettings()
			t.reshape(tb, reply)
			t.shapers = change(t.shapers)
		}
		good := quality(t.rng.IntN(int(qualities)))
		draft, q := t.draft(good, t.rng.IntN(7), reply, u)
		if t.rng.IntN(3) == 0 {
			spec.DropForbidden(&draft, t.shapers)
			q = q[:len(draft.Tokens)]
		}
		target := rows{p: &t.model, context: slices.Concat(t.prompt, reply), draft: draft.Tokens}
		terms := spec.Terms{Params: t.Params, Shapers: t.shapers, Uniforms: u, Round: number, Written: len(reply), Rule: t.rule, IsStop: isStop}
		want := t.oracle(&t.model, t.prompt, reply, draft.Tokens, q, u, number)
		out, err := v.Verify(target, draft, terms)
		if err != nil && !errors.Is(err, sample.ErrNothingLeft) {
			tb.Fatal(err)
		}
		if got := out.Committed(); !slices.Equal(got, want.tokens) || (err != nil) != want.stuck {
			return fmt.Sprintf("round %d after %v %v, draft %v (quality %d), rule %s, %+v, %+v:\ngot %v, error %v; want %v, stuck %v",
				number, t.prompt, reply, draft.Tokens, good, t.rule, t.Params, t.Settings, got, err, want.tokens, want.stuck)
		}
		if t.rng.IntN(3) == 0 {
			if _, err := v.Inspect(3, target, draft, terms); err != nil {
				tb.Fatalf("inspecting: %v", err)
			}
		}
		if err != nil || out.Stop {
			return ""
		}
		reply = append(reply, want.tokens...)
		t.shapers.Push(want.tokens...)
	}
	return ""
}

func unchanged(s sample.Shapers) sample.Shapers { return s }

// With each combination of features, and with drafts of each quality and length, the path fallback
// writes what plain sampling writes with the same uniforms. For the rule exact, and at temperature
// 0, this means: token n of the reply is the one that plain sampling draws with the uniform
// (TargetDraw, 0, n), whatever is drafted. For the rules token and block, which draw by round: the
// result is what these rules say about plain distributions, with the uniforms of the round.
func TestFallbackEqualsPlainSampling(t *testing.T) {
	const trials = 12_000
	fallback := 0
	for seed := range uint64(trials) {
		tr := newTrial(seed)
		if diff := tr.play(t, seed, unchanged); diff != "" {
			t.Fatalf("trial %d, %s", seed, diff)
		}
		if len(tr.shapers) > 0 {
			fallback++
		}
	}
	if fallback < trials*9/10 {
		t.Errorf("only %d of %d trials had something that shapes", fallback, trials)
	}
}

// leaky is a Shaper that is told a wrong history, as a bug in a verifier or in the loop of a reply would do.
type leaky struct {
	sample.Shaper
	push, pop int // how often each token is pushed and popped
}

func (l leaky) Push(id int32) {
	for range l.push {
		l.Shaper.Push(id)
	}
}

func (l leaky) Pop(n int) { l.Shaper.Pop(l.pop * n) }

// historyBugs are functions that put such a bug into each Shaper of a list.
func historyBugs() map[string]func(sample.Shapers) sample.Shapers {
	wrap := func(push, pop int) func(sample.Shapers) sample.Shapers {
		return func(s sample.Shapers) sample.Shapers {
			out := make(sample.Shapers, len(s))
			for i := range s {
				out[i] = leaky{s[i], push, pop}
			}
			return out
		}
	}
	return map[string]func(sample.Shapers) sample.Shapers{
		"rejected tokens are never popped": wrap(1, 0),
		"every token is pushed twice":      wrap(2, 2),
		"tokens of the reply never count":  wrap(0, 0),
	}
}

func TestPlainSamplingCatchesHistoryBugs(t *testing.T) {
	for name, plant := range historyBugs() {
		caught := 0
		for seed := range uint64(300) {
			if newTrial(seed).play(t, seed, plant) != "" {
				caught++
			}
		}
		if caught < 30 {
			t.Errorf("%s: %d of 300 trials noticed", name, caught)
		}
	}
}

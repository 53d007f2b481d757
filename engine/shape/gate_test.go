package shape_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/config"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/engine/spec"
)

// language is a small language. All its replies, of a few tokens, can be enumerated. Penalties
// depend on the whole reply.
type language struct {
	model
	prompt []int32
	length int
	known  map[string][]float64 // cached distributions, by reply
}

func newLanguage(settings shape.Settings) *language {
	l := &language{prompt: []int32{1, 2}, length: 4, known: map[string][]float64{}}
	l.Settings, l.Params, l.Texts = settings, sample.Params{Temperature: 1, TopP: 1}, vocabulary(4)
	l.scores = func(context []int32) []float32 { // they depend only on the token before; the rest is due to the shapers
		rng := rand.New(rand.NewPCG(uint64(context[len(context)-1]), 3))
		row := make([]float32, 4)
		for id := range row {
			row[id] = float32(rng.NormFloat64())
		}
		return row
	}
	return l
}

// after returns the exact distribution of the token after a reply.
func (l *language) after(reply []int32) []float64 {
	key := fmt.Sprint(reply)
	if _, ok := l.known[key]; !ok {
		l.known[key] = l.distribution(l.prompt, reply)
	}
	return l.known[key]
}

// drafts makes the draft of a round.
type drafts func(l *language, rng *rand.Rand, shapers sample.Shapers, reply []int32) spec.Draft

// blind makes drafts that ignore what is forbidden; drop may then shorten them.
func blind(drop func(*spec.Draft, sample.Shapers)) drafts {
	return func(l *language, rng *rand.Rand, shapers sample.Shapers, _ []int32) spec.Draft {
		var d spec.Draft
		for range 3 {
			q := []float64{0.3, 0.1, 0.4, 0.2}
			d.Tokens, d.Q = append(d.Tokens, pick(q, rng.Float64())), append(d.Q, sample.Dist{P: q})
		}
		drop(&d, shapers)
		return d
	}
}

// shaped makes drafts from a distribution near the target's, with the same shapers.
func shaped(l *language, rng *rand.Rand, _ sample.Shapers, reply []int32) spec.Draft {
	var d spec.Draft
	for range 3 {
		q := slices.Clone(l.after(slices.Concat(reply, d.Tokens)))
		sum := 0.0
		for id := range q {
			q[id] *= 1 + 0.5*float64(id%2)
			sum += q[id]
		}
		for id := range q {
			q[id] /= sum
		}
		d.Tokens, d.Q = append(d.Tokens, pick(q, rng.Float64())), append(d.Q, sample.Dist{P: q})
	}
	return d
}

// deviate writes replies and returns how far the counts of whole replies are from the exact ones,
// as a standard normal deviate.
func (l *language) deviate(t *testing.T, rule spec.Rule, draft drafts, plant func(sample.Shapers) sample.Shapers, commit func(sample.Shapers, *spec.Outcome)) float64 {
	const replies = 20_000
	shapers, err := shape.New(l.Settings, nil, func() *shape.Vocabulary { return shape.NewVocabulary(words(l.Texts)) })
	if err != nil {
		t.Fatal(err)
	}
	shapers = plant(shapers)
	v, rng := spec.NewVerifier(), rand.New(rand.NewPCG(5, 5))
	seen := map[string]int{}
	for i := range replies {
		u := sample.NewPhilox(uint64(i), 1)
		if err := shapers.Reset(l.prompt, nil); err != nil {
			t.Fatal(err)
		}
		var reply []int32
		for number := 0; len(reply) < l.length; number++ {
			d := draft(l, rng, shapers, reply)
			out, err := v.Verify(rows{p: &l.model, context: slices.Concat(l.prompt, reply), draft: d.Tokens}, d,
				spec.Terms{Params: l.Params, Shapers: shapers, Uniforms: u, Round: number, Written: len(reply), Rule: rule})
			if err != nil {
				t.Fatal(err)
			}
			reply = append(reply, out.Committed()...)
			commit(shapers, &out)
		}
		seen[fmt.Sprint(reply[:l.length])]++
	}
	return l.chiSquare(seen, replies)
}

// push pushes the committed tokens of a round.
func push(shapers sample.Shapers, out *spec.Outcome) { shapers.Push(out.Committed()...) }

// chiSquare compares counts of whole replies with their exact probabilities. It combines the rare
// ones.
func (l *language) chiSquare(seen map[string]int, replies int) float64 {
	chi2, cells, rareSeen, rareExpected := 0.0, 0, 0.0, 0.0
	impossible := len(seen)
	var walk func(reply []int32, p float64)
	walk = func(reply []int32, p float64) {
		if p == 0 {
			return
		}
		if len(reply) < l.length {
			for id, next := range l.after(reply) {
				walk(append(slices.Clone(reply), int32(id)), p*next)
			}
			return
		}
		n, expected := seen[fmt.Sprint(reply)], p*float64(replies)
		if n > 0 {
			impossible--
		}
		if expected < 5 {
			rareSeen, rareExpected = rareSeen+float64(n), rareExpected+expected
			return
		}
		chi2 += (float64(n) - expected) * (float64(n) - expected) / expected
		cells++
	}
	walk(nil, 1)
	if impossible > 0 {
		return math.Inf(1)
	}
	if rareExpected >= 5 {
		chi2 += (rareSeen - rareExpected) * (rareSeen - rareExpected) / rareExpected
		cells++
	}
	freedom := float64(cells - 1)
	spread := 2 / (9 * freedom) // Wilson and Hilferty 1931
	return (math.Cbrt(chi2/freedom) - (1 - spread)) / math.Sqrt(spread)
}

// limit is the deviate above which a distribution is wrong; see gate.Limit.
const limit = 5.5

func penalised() shape.Settings {
	p := config.Default().Penalties
	p.Repeat, p.Frequency, p.Presence, p.Last = 1.3, 0.4, 0.3, 3
	p.DryMultiplier, p.DryAllowed = 0.7, 1
	p.DryBreakers = nil
	return shape.Settings{Penalties: p}
}

func forbidding() shape.Settings {
	s := penalised()
	s.Tokens = config.Tokens{BadWords: []string{"abab", "bb"}, Bias: []string{"2=0.5"}, Banned: []string{"0"}}
	return s
}

// Whole replies, written in rounds, have the joint distribution of tokens that are drawn one by
// one.
func TestShapedRepliesHaveTheTargetsDistribution(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings shape.Settings
		draft    drafts
	}{
		{"penalties, shaped drafts", penalised(), shaped},
		{"penalties and bans, shaped drafts", forbidding(), shaped},
		{"penalties and bans, blind drafts", forbidding(), blind(func(*spec.Draft, sample.Shapers) {})},
		{"penalties and bans, blind drafts cut", forbidding(), blind(spec.DropForbidden)},
	} {
		for _, rule := range []spec.Rule{spec.Token, spec.Block, spec.ExactMatch} {
			t.Run(c.name+", "+string(rule), func(t *testing.T) {
				t.Parallel()
				if z := newLanguage(c.settings).deviate(t, rule, c.draft, unchanged, push); z > limit {
					t.Errorf("z = %.1f", z)
				}
			})
		}
	}
}

func TestTheDistributionShowsHistoryBugs(t *testing.T) {
	for name, plant := range historyBugs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unlike := blind(func(*spec.Draft, sample.Shapers) {}) // drafts that are often rejected
			if z := newLanguage(penalised()).deviate(t, spec.Token, unlike, plant, push); z <= limit {
				t.Errorf("not caught: z = %.1f", z)
			}
		})
	}
	t.Run("penalties see rejected tokens", func(t *testing.T) {
		t.Parallel()
		all := func(shapers sample.Shapers, out *spec.Outcome) {
			for _, tested := range out.Draft[:out.Tested] {
				shapers.Push(tested.ID)
			}
			if out.Commit.Verdict != "" {
				shapers.Push(out.Commit.ID)
			}
		}
		if z := newLanguage(penalised()).deviate(t, spec.Token, shaped, unchanged, all); z <= limit {
			t.Errorf("not caught: z = %.1f", z)
		}
	})
	t.Run("tokens drawn by chance are dropped when forbidden", func(t *testing.T) {
		t.Parallel()
		drop := func(d *spec.Draft, s sample.Shapers) {
			spec.DropForbidden(d, s)
			if n := len(d.Tokens); d.Stop != "" {
				d.Tokens, d.Q = d.Tokens[:n-1], d.Q[:n-1]
			}
		}
		if z := newLanguage(forbidding()).deviate(t, spec.Token, blind(drop), unchanged, push); z <= limit {
			t.Errorf("not caught: z = %.1f", z)
		}
	})
}

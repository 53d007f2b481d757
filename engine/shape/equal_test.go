package shape_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"specula/engine/config"
	"specula/engine/constrain"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/engine/spec"
)

// words is a vocabulary of a few short texts. The token without text ends a reply.
type words []string

func (w words) VocabSize() int             { return len(w) }
func (w words) Bytes(id int32) []byte      { return []byte(w[id]) }
func (w words) Token(id int32) string      { return "<end>" }
func (w words) IsControl(id int32) bool    { return w[id] == "" }
func (w words) Encode(text string) []int32 { return encode(w, text) }

// vocabulary returns the first n of ten tokens.
func vocabulary(n int) words {
	return words{"", "a", "b", "ab", "ba", "c", "abc", "aa", "cb", "bc"}[:n]
}

// scoresOf returns scores that depend on a hash of the context, with ties and with tokens of
// probability 0.
func scoresOf(seed uint64, vocab int) func(context []int32) []float32 {
	return func(context []int32) []float32 {
		h := seed
		for _, id := range context {
			h = (h ^ uint64(id) + 1) * 0x9E3779B97F4A7C15
			h ^= h >> 29
		}
		rng := rand.New(rand.NewPCG(h, seed))
		row := make([]float32, vocab)
		for id := range row {
			row[id] = float32(2 * rng.NormFloat64())
			switch rng.IntN(8) {
			case 0:
				row[id] = float32(rng.IntN(3))
			case 1:
				row[id] = float32(math.Inf(-1))
			}
		}
		row[rng.IntN(vocab)] = 1
		return row
	}
}

// rows are one pass of the target over a context and a draft.
type rows struct {
	p              *model
	context, draft []int32
}

func (r rows) Rows() int  { return len(r.draft) + 1 }
func (r rows) Vocab() int { return len(r.p.Texts) }
func (r rows) Row(i int, dst []float32) error {
	copy(dst, r.p.scores(slices.Concat(r.context, r.draft[:i])))
	return nil
}
func (r rows) Argmax(dst []int32) (err error) {
	row := make([]float32, r.Vocab())
	for i := range dst {
		if err = errors.Join(r.Row(i, row), err); err == nil {
			dst[i], err = sample.Argmax(row)
		}
	}
	return err
}

// trial is one reply under random settings.
type trial struct {
	model
	rng     *rand.Rand
	rule    spec.Rule
	oracle  round
	prompt  []int32
	shapers sample.Shapers
	pattern string // the form of the reply, a regular expression; empty for none
}

// forms are regular expressions that match few texts.
var forms = []string{`[ab]{2,5}`, `(?:ab){0,2}a?b?c?`, `a(?:ba|c){0,3}`, `(?:a|bc){1,3}`, `aab|abab|b?a{1,6}`}

// textsOf caches the texts of up to seven letters that match a pattern, by pattern and letters.
var textsOf = map[string][]string{}

// hold gives the reply a form.
func (t *trial) hold(pattern string) {
	key := pattern + fmt.Sprint(t.Texts)
	texts, known := textsOf[key]
	if !known {
		texts = t.enumerate(pattern)
		textsOf[key] = texts
	}
	if texts != nil {
		t.Form, t.pattern = t.Among(texts), pattern
	}
}

func (t *trial) enumerate(pattern string) (texts []string) {
	whole := regexp.MustCompile(`^(?:` + pattern + `)$`)
	for longest := []string{""}; len(longest[0]) < 8; {
		var longer []string
		for _, text := range longest {
			if whole.MatchString(text) {
				texts = append(texts, text)
			}
			for _, letter := range t.Texts {
				if len(letter) == 1 {
					longer = append(longer, text+letter)
				}
			}
		}
		longest = longer
	}
	return texts
}

func newTrial(seed uint64) *trial {
	rng := rand.New(rand.NewPCG(seed, 7))
	texts := vocabulary(2 + rng.IntN(9))
	t := &trial{rng: rng, model: model{modelOf(texts), scoresOf(seed, len(texts))}}
	for range rng.IntN(12) {
		t.prompt = append(t.prompt, int32(rng.IntN(len(texts))))
	}
	t.Params = sample.Params{TopP: 1}
	if rng.IntN(5) > 0 {
		t.Params.Temperature = 0.2 + 2*rng.Float64()
	}
	maybe := func(set func()) {
		if rng.IntN(4) == 0 {
			set()
		}
	}
	maybe(func() { t.Params.TopK = 1 + rng.IntN(len(texts)) })
	maybe(func() { t.Params.TopP = 0.3 + 0.7*rng.Float64() })
	maybe(func() { t.Params.MinP = 0.5 * rng.Float64() })
	maybe(func() { t.Params.TemperatureLast = true })
	t.rule = []spec.Rule{spec.Token, spec.Block, spec.ExactMatch}[rng.IntN(3)]
	t.oracle = map[spec.Rule]round{spec.Token: byToken, spec.Block: byBlock, spec.ExactMatch: ownDraws}[t.rule]
	if t.Params.Temperature == 0 {
		t.oracle = ownDraws
	}
	t.Settings = t.anySettings()
	if rng.IntN(4) == 0 {
		t.hold(forms[rng.IntN(len(forms))])
	}
	return t
}

// anySettings switches each feature on or off at random.
func (t *trial) anySettings() shape.Settings {
	rng := t.rng
	s := shape.Settings{Penalties: config.Default().Penalties}
	p, k := &s.Penalties, &s.Tokens
	p.DryBreakers = nil
	look := func() int { return []int{-1, 0, 1, 2, 3, 64}[rng.IntN(6)] }
	for _, set := range []func(){
		func() { p.Repeat, p.Last = 0.5+1.5*rng.Float64(), look() },
		func() { p.Frequency, p.Last = 2*rng.NormFloat64(), look() },
		func() { p.Presence, p.Last = 2*rng.NormFloat64(), look() },
		func() {
			p.DryMultiplier, p.DryBase, p.DryAllowed, p.DryLast = 2*rng.Float64(), 1+rng.Float64(), rng.IntN(4), look()
		},
		func() { p.DryBreakers = [][]string{{"c"}, {"ab"}, {"bab", "c"}}[rng.IntN(3)] },
		func() {
			k.Bias = append(k.Bias, fmt.Sprintf("%d=%g", rng.IntN(len(t.Texts)), float64(rng.IntN(9)-4)))
		},
		func() { k.Banned = t.someTokens() },
		func() { k.Allowed = t.someTokens() },
		func() { k.BadWords = [][]string{{"ab"}, {"aba", "c"}, {"bb", "aab"}}[rng.IntN(3)] },
		func() { s.MinTokens = 1 + rng.IntN(6) },
	} {
		if rng.IntN(3) == 0 {
			set()
		}
	}
	for _, b := range p.DryBreakers {
		if !t.spellable(b) {
			p.DryBreakers = nil
			break
		}
	}
	return s
}

// spellable reports whether a text can be written with the trial's tokens.
func (t *trial) spellable(text string) bool {
	return !slices.ContainsFunc([]byte(text), func(b byte) bool { return !slices.Contains(t.Texts, string(b)) })
}

func (t *trial) someTokens() []string {
	var names []string
	for id := range t.Texts {
		if t.rng.IntN(3) == 0 {
			names = append(names, strconv.Itoa(id))
		}
	}
	return names
}

func (t *trial) reshape(tb testing.TB, reply []int32) {
	shapers, err := shape.New(t.Settings, t.Stops, func() *shape.Vocabulary { return shape.NewVocabulary(words(t.Texts)) })
	if err != nil {
		tb.Fatal(err)
	}
	if t.pattern != "" {
		form, err := constrain.Regex(tb.Context(), t.pattern)
		if err != nil {
			tb.Fatal(err)
		}
		held, err := constrain.NewShaper(tb.Context(), form, constrain.NewVocabulary(len(t.Texts), words(t.Texts).Bytes, t.Stops, false))
		if err != nil {
			tb.Fatal(err)
		}
		shapers = append(shapers, held)
	}
	if err := shapers.Reset(t.prompt, reply); err != nil {
		tb.Fatal(err)
	}
	t.shapers = shapers
}

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

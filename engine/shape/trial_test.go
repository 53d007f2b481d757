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

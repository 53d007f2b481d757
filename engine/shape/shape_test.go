package shape_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/engine/spec"
)

var forbidden = float32(math.Inf(-1))

func bytewise() *shape.Vocabulary { return shape.NewVocabulary(vocabulary(10)) }

// shapeRow resets s, pushes the reply and shapes row.
func shapeRow(t *testing.T, s sample.Shaper, prompt, reply []int32, row ...float32) []float32 {
	t.Helper()
	list := sample.Shapers{s}
	if err := list.Reset(prompt, reply); err != nil {
		t.Fatal(err)
	}
	if err := list.Shape(row); err != nil && !errors.Is(err, sample.ErrNothingLeft) {
		t.Fatal(err)
	}
	return row
}

// Each formula, computed by hand.
func TestFormulasGiveWhatIsComputedByHand(t *testing.T) {
	const most = math.MaxFloat32
	dry := func(multiplier, base float64, allowed, last int, b shape.Breakers) sample.Shaper {
		return shape.NewDry(multiplier, base, allowed, last, b)
	}
	for _, c := range []struct {
		name          string
		shaper        sample.Shaper
		prompt, reply []int32
		row, want     []float32
	}{
		{"repeat divides above zero and multiplies below", shape.NewPenalties(2, 0, 0, -1), []int32{0}, []int32{1}, []float32{3, -3, 3}, []float32{1.5, -6, 3}},
		{"frequency counts, presence does not", shape.NewPenalties(1, 0.5, 0.25, -1), []int32{1, 1}, []int32{1, 2}, []float32{0, 0, 0}, []float32{0, -1.75, -0.75}},
		{"repeat comes before the others", shape.NewPenalties(2, 1, 0, -1), nil, []int32{0}, []float32{4}, []float32{1}},
		{"only the last two count", shape.NewPenalties(1, 1, 0, 2), []int32{0, 0}, []int32{1, 0}, []float32{5, 5}, []float32{4, 4}},
		{"none count", shape.NewPenalties(1, 1, 1, 0), []int32{0}, []int32{1}, []float32{5, 5}, []float32{5, 5}},
		{"a rise is one, too", shape.NewPenalties(1, -1, -1, -1), nil, []int32{0}, []float32{1}, []float32{3}},
		{"a forbidden token stays so", shape.NewPenalties(0.5, -1, -1, -1), nil, []int32{0}, []float32{forbidden, 0}, []float32{forbidden, 0}},
		{"a score stays finite", shape.NewPenalties(1e-300, 0, 0, -1), nil, []int32{0, 1}, []float32{1, -1}, []float32{most, -1e-300}},

		// "0 1" occurred before "2". Two tokens are allowed, so the third costs multiplier·base⁰.
		{"dry at its allowance", dry(1, 1.1, 2, 5, nil), nil, []int32{0, 1, 2, 0, 1}, []float32{0, 0, 0, 0}, []float32{0, 0, -1, 0}},
		{"dry grows by its base", dry(3, 2, 1, -1, nil), []int32{0, 1, 2, 3}, []int32{0, 1, 2}, []float32{0, 0, 0, 0}, []float32{0, 0, 0, -12}},
		{"dry within its allowance", dry(1, 2, 3, -1, nil), nil, []int32{0, 1, 2, 0, 1}, []float32{0, 0, 0}, []float32{0, 0, 0}},
		{"dry looks no further back than it may", dry(1, 2, 1, 3, nil), nil, []int32{0, 1, 2, 0, 1}, []float32{0, 0, 0}, []float32{0, 0, 0}},
		{"dry takes the longest of several places", dry(1, 2, 1, -1, nil), nil, []int32{1, 2, 0, 0, 1, 2, 3, 0, 1}, []float32{0, 0, 0, 0}, []float32{0, 0, -2, 0}},
		{"a breaker ends what repeats", dry(1, 2, 1, -1, shape.Breakers{3: {{}}}), nil, []int32{0, 3, 1, 2, 0, 3, 1}, []float32{0, 0, 0, 0}, []float32{0, 0, -1, 0}},
		{"a breaker itself costs nothing", dry(1, 2, 1, -1, shape.Breakers{2: {{}}}), nil, []int32{0, 1, 2, 0, 1}, []float32{0, 0, 0}, []float32{0, 0, 0}},
		{"a breaker of two tokens", dry(1, 2, 1, -1, shape.Breakers{3: {{1}}}), nil, []int32{3, 1, 2, 3, 1}, []float32{0, 0, 0, 0}, []float32{0, 0, 0, 0}},
		{"dry never forbids", dry(100, 100, 0, -1, nil), nil, slices.Repeat([]int32{0}, 600), []float32{0, 0}, []float32{-most, 0}},

		{"bias", shape.NewBias(map[int32]float64{0: -1.5, 2: 1e39, 9: 1}), nil, nil, []float32{1, 1, 1}, []float32{-0.5, 1, most}},
		{"ban", shape.NewBan([]int32{1, 9}), nil, nil, []float32{1, 2, 3}, []float32{1, forbidden, 3}},
		{"allow", shape.NewAllow([]int32{1, 9}), nil, nil, []float32{1, 2, 3}, []float32{forbidden, 2, forbidden}},
		{"min tokens do not count the prompt", shape.NewMinTokens(2, []int32{0, 9}), []int32{1, 1, 1}, []int32{1}, []float32{1, 1}, []float32{forbidden, 1}},
		{"enough tokens", shape.NewMinTokens(2, []int32{0}), nil, []int32{1, 1}, []float32{1, 1}, []float32{1, 1}},
		// "", a, b, ab, ba, c, abc, aa, cb, bc
		{"a bad word after its beginning", shape.NewBadWords(bytewise(), []string{"aba"}), nil, []int32{5, 3}, make([]float32, 10), []float32{0, forbidden, 0, forbidden, 0, 0, forbidden, forbidden, 0, 0}},
		{"a bad word in one token", shape.NewBadWords(bytewise(), []string{"b"}), nil, nil, make([]float32, 10), []float32{0, 0, forbidden, forbidden, forbidden, 0, forbidden, 0, forbidden, forbidden}},
		{"a bad word in quotes", shape.NewBadWords(bytewise(), []string{`"b"`}), nil, nil, make([]float32, 10), []float32{0, 0, forbidden, forbidden, forbidden, 0, forbidden, 0, forbidden, forbidden}},
		{"a bad word does not begin in the prompt", shape.NewBadWords(bytewise(), []string{"ac"}), []int32{1}, []int32{}, make([]float32, 10), make([]float32, 10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shapeRow(t, c.shaper, c.prompt, c.reply, slices.Clone(c.row)...); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Allows agrees with Shape about each token, whatever is pushed and popped.
func TestAllowsAgreesWithShape(t *testing.T) {
	for seed := range uint64(400) {
		tr := newTrial(seed)
		tr.reshape(t, nil)
		depth := 0
		for range 12 {
			if depth > 0 && tr.rng.IntN(3) == 0 {
				n := 1 + tr.rng.IntN(depth)
				tr.shapers.Pop(n)
				depth -= n
			}
			row := make([]float32, len(tr.Texts))
			if err := tr.shapers.Shape(row); err != nil && !errors.Is(err, sample.ErrNothingLeft) {
				t.Fatal(err)
			}
			for id, score := range row {
				if tr.pattern != "" && slices.Contains(tr.Stops, int32(id)) && score != forbidden {
					continue // a complete form may end even with fewer than min_tokens
				}
				if allowed := tr.shapers.Allows(int32(id)); allowed == (score == forbidden) {
					t.Fatalf("%+v: token %d has score %v, allowed: %v", tr.Settings, id, score, allowed)
				}
			}
			tr.shapers.Push(int32(tr.rng.IntN(len(tr.Texts))))
			depth++
		}
	}
}

func TestOrderAndNames(t *testing.T) {
	s := shape.Settings{Penalties: config.Default().Penalties, MinTokens: 3,
		Tokens: config.Tokens{Bias: []string{"1=1"}, Banned: []string{"2"}, Allowed: []string{"1", "2"}, BadWords: []string{"c"}}}
	s.Penalties.Presence, s.Penalties.DryMultiplier, s.Penalties.DryBreakers = 1, 1, nil
	list, err := shape.New(s, []int32{0}, bytewise)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"logit bias", "penalties", "DRY", "banned tokens", "allowed tokens", "bad words", "min tokens"}
	if !slices.Equal(list.Names(), want) {
		t.Errorf("%v, want %v", list.Names(), want)
	}
	off := func() *shape.Vocabulary { t.Error("the vocabulary was read for nothing"); return nil }
	if list, err := shape.New(shape.Of(config.Default()), []int32{0}, off); len(list) > 0 || err != nil {
		t.Errorf("by default there is %v, %v", list.Names(), err)
	}
}

func TestContradictionsAreNamed(t *testing.T) {
	s := shape.Settings{Penalties: config.Default().Penalties, MinTokens: 3,
		Tokens: config.Tokens{Bias: []string{"1=1"}, Banned: []string{"1", "2"}, Allowed: []string{"1", "2"}, BadWords: []string{"c"}}}
	list, err := shape.New(s, []int32{0}, bytewise)
	if err != nil {
		t.Fatal(err)
	}
	p := model{modelOf(vocabulary(10)), func([]int32) []float32 { return make([]float32, 10) }}
	_, err = spec.NewVerifier().Verify(rows{p: &p}, spec.Draft{}, spec.Terms{Shapers: list})
	var contradiction *spec.ContradictionError
	if !errors.As(err, &contradiction) || !errors.Is(err, sample.ErrNothingLeft) {
		t.Fatalf("error %v", err)
	}
	if want := "all are forbidden by banned tokens, allowed tokens and min tokens"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
}

func TestNames(t *testing.T) {
	v := shape.NewVocabulary(append(vocabulary(10), "42", " a", "é", "a", "\n", `"`))
	for _, c := range []struct {
		name, tokens string
		want         []int32 // banned
		err          string
	}{
		{name: "by id", tokens: "3", want: []int32{3}},
		{name: "by text", tokens: "ab", want: []int32{3}},
		{name: "by a text of two tokens that say the same", tokens: "a", want: []int32{1, 13}},
		{name: "a space counts", tokens: " a", want: []int32{11}},
		{name: "a control token by its name", tokens: "<end>", want: []int32{0}},
		{name: "a number as text", tokens: `"42"`, want: []int32{10}},
		{name: "an escape", tokens: `"\n"`, want: []int32{14}},
		{name: "a quote is itself", tokens: `"`, want: []int32{15}},
		{name: "more than one token", tokens: "abcab", err: `"abcab" is not one token but 2: "abc" (6), "ab" (3)`},
		{name: "bytes without a token", tokens: "\x04\x05", err: `"\x04\x05" cannot be written in this vocabulary`},
		{name: "no such id", tokens: "99", err: "there is no token 99: ids go from 0 to 15"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shape.Settings{Penalties: config.Default().Penalties, Tokens: config.Tokens{Banned: []string{c.tokens}}}
			list, err := shape.New(s, nil, func() *shape.Vocabulary { return v })
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "tokens.banned") {
					t.Fatalf("error %v, want one about tokens.banned: %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			row := make([]float32, 16)
			if err := list.Shape(row); err != nil {
				t.Fatal(err)
			}
			var banned []int32
			for id, score := range row {
				if score == forbidden {
					banned = append(banned, int32(id))
				}
			}
			if !slices.Equal(banned, c.want) {
				t.Errorf("banned %v, want %v", banned, c.want)
			}
		})
	}
}

// A breaker whose end cannot be written in tokens breaks nothing: its beginning is ordinary text.
func TestBreakersThatCannotBeWrittenBreakNothing(t *testing.T) {
	v := shape.NewVocabulary(vocabulary(10))
	for _, c := range []struct {
		text string
		want shape.Breakers
	}{
		{"bac\x04", shape.Breakers{}}, {"c\x04", shape.Breakers{}}, {"cc", shape.Breakers{5: {{5}}, 6: {{5}}, 9: {{5}}}},
	} {
		if got := v.Breakers([]string{c.text}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestBiases(t *testing.T) {
	v := shape.NewVocabulary(append(vocabulary(10), "=", "a=b"))
	row := func(list ...string) ([]float32, error) {
		s := shape.Settings{Penalties: config.Default().Penalties, Tokens: config.Tokens{Bias: list}}
		shapers, err := shape.New(s, nil, func() *shape.Vocabulary { return v })
		row := make([]float32, 12)
		return row, errors.Join(err, shapers.Shape(row))
	}
	got, err := row("3=-5", "ab=1.5", "==2", "a=b=1e3")
	if err != nil || got[3] != -3.5 || got[10] != 2 || got[11] != 1000 {
		t.Errorf("%v, %v", got, err)
	}
	for _, wrong := range []string{"3", "=5", "3=", "3=much", "3=NaN", "3=-Inf", "cabab=1", "99=1"} {
		if _, err := row(wrong); err == nil || !strings.Contains(err.Error(), "tokens.bias") {
			t.Errorf("%s: error %v", wrong, err)
		}
	}
}

// In whatever tokens, a bad text is never written, and nothing else is forbidden.
func TestBadWordsAreNeverWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"abca", "bb", "caba"}
	bad := shape.NewBadWords(bytewise(), words)
	texts := vocabulary(10)
	for range 2000 {
		text := ""
		if err := bad.Reset(nil); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			id := int32(rng.IntN(len(texts)))
			completes := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text+texts[id], w) })
			if bad.Allows(id) == completes {
				t.Fatalf("%q after %q: allowed %v", texts[id], text, !completes)
			}
			if !completes {
				text += texts[id]
				bad.Push(id)
			}
		}
	}
}

func BenchmarkShape(b *testing.B) {
	context := make([]int32, 4096)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range context {
		context[i] = int32(rng.IntN(500))
	}
	row := make([]float32, 4096)
	for name, s := range map[string]sample.Shaper{
		"penalties": shape.NewPenalties(1.1, 0.1, 0.1, 64), "dry": shape.NewDry(0.8, 1.75, 2, -1, nil), "allow": shape.NewAllow([]int32{1, 2, 3}),
	} {
		b.Run(name, func(b *testing.B) {
			if err := s.Reset(context); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Push(3)
				_ = s.Shape(row)
				s.Pop(1)
			}
		})
	}
}

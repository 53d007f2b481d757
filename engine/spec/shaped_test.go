package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/oracle"
	"specula/engine/sample"
)

// once forbids every token that is already in the context, and records the context of each call of Shape.
type once struct {
	context []int32
	asked   [][]int32 // the context at each call of Shape
}

func (o *once) Name() string { return "once" }
func (o *once) Shape(logits []float32) error {
	o.asked = append(o.asked, slices.Clone(o.context))
	for _, id := range o.context {
		if int(id) < len(logits) {
			logits[id] = float32(math.Inf(-1))
		}
	}
	return nil
}
func (o *once) Allows(id int32) bool       { return !slices.Contains(o.context, id) }
func (o *once) Push(id int32)              { o.context = append(o.context, id) }
func (o *once) Pop(n int)                  { o.context = o.context[:len(o.context)-n] }
func (o *once) Reset(prompt []int32) error { o.context = slices.Clone(prompt); return nil }

// A shaped draft is drawn, token by token, from the draft model's scores without the forbidden
// tokens. The shapers end in the state in which they began.
func TestDraftsAreShaped(t *testing.T) {
	for _, params := range []sample.Params{{}, warm} {
		for _, inspect := range []bool{false, true} {
			prompt := []int32{1, 2, 3}
			d := newDraft(t, &history{vocab: 8, capacity: 100}, 8)
			_, err := d.Begin(prompt)
			must(t, err)
			shaper := &once{context: slices.Clone(prompt)}
			a := ask(7, 0)
			a.Params, a.Inspect, a.Shapers = params, inspect, sample.Shapers{shaper}
			draft, err := d.Propose(t.Context(), a)
			must(t, err)
			if !slices.Equal(shaper.context, prompt) {
				t.Fatalf("the shapers are left with %v, want %v", shaper.context, prompt)
			}
			if len(draft.Tokens) != 5 || !strings.Contains(draft.Stop, "no token") {
				t.Fatalf("drafted %v, stop %q; want the 5 tokens that are left, and that there is no other", draft.Tokens, draft.Stop)
			}
			context := slices.Clone(prompt)
			for i, id := range draft.Tokens {
				scores := scoresOf(context, 8)
				for _, seen := range context {
					scores[seen] = float32(math.Inf(-1))
				}
				want := oracle.Distribution(scores, params)
				for other, p := range want {
					if got := draft.Q[i].Prob(int32(other)); math.Abs(got-p) > 1e-4 {
						t.Errorf("q of token %d is %v, want %v", other, got, p)
					}
				}
				context = append(context, id)
			}
		}
	}
}

func TestDropForbidden(t *testing.T) {
	hot := func(ids ...int32) Draft {
		var d Draft
		for _, id := range ids {
			d.Tokens, d.Q, d.Confidence = append(d.Tokens, id), append(d.Q, sample.OneHot(id)), append(d.Confidence, 0.5)
		}
		return d
	}
	drawn := func(ids ...int32) Draft {
		d := hot(ids...)
		for i := range d.Q {
			d.Q[i] = sample.Dist{P: make([]float64, 8)}
		}
		return d
	}
	for _, c := range []struct {
		name  string
		draft Draft
		keep  int
		stop  bool
	}{
		{"nothing forbidden", hot(4, 5), 2, false},
		{"the first", hot(1, 5), 0, true},
		{"one that the draft itself makes forbidden", hot(4, 5, 4, 6), 2, true},
		{"one that was drawn stays to be tested", drawn(4, 1, 5), 2, true},
		{"one that was drawn at the end", drawn(4, 1), 2, false},
		{"no draft", Draft{}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			shaper := &once{context: []int32{1, 2, 3}}
			DropForbidden(&c.draft, sample.Shapers{shaper})
			if n := len(c.draft.Tokens); n != c.keep || len(c.draft.Q) != n || len(c.draft.Confidence) != n || (c.draft.Stop != "") != c.stop {
				t.Errorf("%d tokens, %d distributions, %d confidences, stop %q; want %d", n, len(c.draft.Q), len(c.draft.Confidence), c.draft.Stop, c.keep)
			}
			if len(shaper.context) != 3 || len(shaper.asked) != 0 {
				t.Errorf("the shapers are left with %v, and shaped %d rows", shaper.context, len(shaper.asked))
			}
		})
	}
}

// Shapers are not asked about rows after a forbidden token, and each row that they are asked about
// is the one after their context.
func TestShapersAreAskedInOrder(t *testing.T) {
	draft := Draft{Tokens: []int32{4, 5, 4, 6}}
	for _, id := range draft.Tokens {
		draft.Q = append(draft.Q, sample.OneHot(id))
	}
	for _, rule := range Rules {
		scores := [][]float32{{0, 0, 0, 0, 60, 0, 0}, {0, 0, 0, 0, 0, 60, 0}, {0, 0, 0, 0, 60, 0, 0}, {0, 0, 0, 0, 0, 0, 60}, {0, 0, 0, 0, 0, 0, 0}}
		shaper := &once{context: []int32{1}}
		terms := Terms{Params: warm, Shapers: sample.Shapers{shaper}, Uniforms: sample.NewPhilox(1, 1), Rule: rule.Rule, Typical: Typical{Epsilon: 0.09, Delta: 0.3}}
		v := NewVerifier()
		out, err := v.Verify(&rowsOf{scores}, draft, terms)
		must(t, err)
		if out.Accepted != 2 || out.Path != Fallback {
			t.Errorf("%s: accepted %d on the path %s", rule.Rule, out.Accepted, out.Path)
		}
		seen, err := v.Inspect(3, &rowsOf{scores}, draft, terms)
		must(t, err)
		if seen.Target[2] == nil || seen.Target[3] != nil || seen.Target[4] != nil {
			t.Errorf("%s: candidates %v, want none after the forbidden token", rule.Rule, seen.Target)
		}
		for _, context := range shaper.asked {
			if want := append([]int32{1}, draft.Tokens[:len(context)-1]...); !slices.Equal(context, want) || len(context) > 3 {
				t.Errorf("%s: asked after %v", rule.Rule, context)
			}
		}
		if len(shaper.context) != 1 {
			t.Errorf("%s: left with %v", rule.Rule, shaper.context)
		}
	}
}

// rowsOf are scores written down by hand.
type rowsOf struct{ scores [][]float32 }

func (r *rowsOf) Rows() int                      { return len(r.scores) }
func (r *rowsOf) Vocab() int                     { return len(r.scores[0]) }
func (r *rowsOf) Row(i int, dst []float32) error { copy(dst, r.scores[i]); return nil }
func (r *rowsOf) Argmax(dst []int32) (err error) {
	for i := range dst {
		dst[i], err = sample.Argmax(r.scores[i])
	}
	return err
}

// failing is a shaper whose Shape returns an error.
type failing struct{ once }

var errBroken = errors.New("broken")

func (f *failing) Shape([]float32) error { return errBroken }

func TestWhatShapersCannotDo(t *testing.T) {
	inf := float32(math.Inf(-1))
	full := &once{context: []int32{0, 1}}
	for _, c := range []struct {
		name    string
		shapers sample.Shapers
		row     []float32
		is      error
		says    string
	}{
		{"forbid everything", sample.Shapers{full}, []float32{1, 2}, sample.ErrNothingLeft, "all are forbidden by once"},
		{"a model that leaves nothing", sample.Shapers{&once{}}, []float32{inf, inf}, compute.ErrNotFinite, ""},
		{"scores that are not numbers", sample.Shapers{&once{}}, []float32{1, float32(math.NaN())}, compute.ErrNotFinite, "NaN"},
		{"a shaper that fails", sample.Shapers{&failing{}}, []float32{1, 2}, errBroken, "shaping the scores by once"},
	} {
		for _, params := range []sample.Params{{}, warm} {
			out, err := NewVerifier().Verify(&rowsOf{[][]float32{c.row}}, Draft{}, Terms{Params: params, Shapers: c.shapers, Uniforms: sample.NewPhilox(1, 1)})
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) || len(out.Committed()) > 0 {
				t.Errorf("%s: %v, error %v; want %q", c.name, out.Committed(), err, c.says)
			}
		}
	}
}

func TestPathAndReason(t *testing.T) {
	shapers := sample.Shapers{&once{}, &once{}, &once{}}
	for _, c := range []struct {
		terms Terms
		path  Path
	}{
		{Terms{}, Greedy},
		{Terms{Rule: Block}, Greedy},
		{Terms{Params: warm}, Stochastic},
		{Terms{Params: warm, Rule: Token}, Stochastic},
		{Terms{Params: warm, Rule: Block}, Fallback},
		{Terms{Params: warm, Rule: ExactMatch}, Fallback},
		{Terms{Params: warm, Rule: TypicalLossy}, Fallback},
		{Terms{Logprobs: 1}, Fallback},
		{Terms{Mixed: true}, Fallback},
		{Terms{Mixed: true, Device: true}, Greedy},
		{Terms{Params: warm, Mixed: true, Device: true}, Stochastic},
		{Terms{Params: warm, Mixed: true, Device: true, Shapers: shapers[:1]}, Fallback},
		{Terms{Mixed: true, Device: true, Logprobs: 1}, Greedy},
		{Terms{Params: warm, Device: true, Logprobs: 20}, Stochastic},
		{Terms{Device: true, Logprobs: 1, Shapers: shapers[:1]}, Fallback},
		{Terms{Shapers: shapers[:1], Rule: Block}, Fallback},
		{Terms{Params: warm, Shapers: shapers}, Fallback},
	} {
		if path := Eligible(&c.terms); path != c.path {
			t.Errorf("%+v: %s; want %s", c.terms, path, c.path)
		}
	}
}

// Log-probabilities come from the raw scores, whatever shapers and filters do.
func TestLogProbsAreRaw(t *testing.T) {
	scores := [][]float32{{0, 1, 2, 9}, {3, 1, 2, 0}}
	draft := Draft{Tokens: []int32{2}, Q: []sample.Dist{sample.OneHot(2)}}
	terms := Terms{Params: sample.Params{}, Shapers: sample.Shapers{&once{context: []int32{3}}}, Logprobs: 2, Uniforms: sample.NewPhilox(1, 1)}
	v := NewVerifier()
	out, err := v.Verify(&rowsOf{scores}, draft, terms)
	must(t, err)
	if !slices.Equal(out.Committed(), []int32{2, 0}) {
		t.Fatalf("committed %v", out.Committed())
	}
	list, err := v.LogProbs(2, &rowsOf{scores}, &out)
	must(t, err)
	for i, id := range out.Committed() {
		sum := 0.0
		for _, z := range scores[i] {
			sum += math.Exp(float64(z))
		}
		own := float64(scores[i][id]) - math.Log(sum)
		top := float64(slices.Max(scores[i])) - math.Log(sum)
		if math.Abs(list[i].Own-own) > 1e-12 || len(list[i].Top) != 2 || math.Abs(list[i].Top[0].P-top) > 1e-12 {
			t.Errorf("row %d: %+v, want own %v, best %v", i, list[i], own, top)
		}
	}
}

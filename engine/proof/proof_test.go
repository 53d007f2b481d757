package proof_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"specula/engine/compute"
	"specula/engine/proof"
	"specula/engine/sample"
	"specula/engine/spec"
)

// talker is a model whose scores depend on the last two tokens, with a taste of its own.
type talker struct {
	vocab  int
	taste  float64
	passes *int
}

type read struct{ ids []int32 }

func (c *read) Len() int                                { return len(c.ids) }
func (c *read) Cap() int                                { return 200 }
func (c *read) Truncate(n int) error                    { c.ids = c.ids[:n]; return nil }
func (c *read) Advance(int) error                       { return nil }
func (c *read) Bytes() int64                            { return 0 }
func (c *read) Close() error                            { return nil }
func (c *read) KeyValue(_, _ int, _, _ []float32) error { return nil }
func (m talker) NewCache() (compute.Cache, error)       { return &read{}, nil }

func (m talker) Prefill(_ context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	*m.passes++
	c := cache.(*read)
	c.ids = append(c.ids, ids...)
	n := len(c.ids)
	row := make(scores, m.vocab)
	for id := range row {
		row[id] = float32(2 * math.Sin(m.taste*float64(id+1)*float64(3+c.ids[n-1])+float64(c.ids[max(0, n-2)])))
	}
	return row, nil
}

type scores []float32

func (s scores) Rows() int                      { return 1 }
func (s scores) Vocab() int                     { return len(s) }
func (s scores) Row(_ int, dst []float32) error { copy(dst, s); return nil }
func (s scores) Moved() (int64, int)            { return 0, 0 }
func (s scores) Argmax(dst []int32) (err error) {
	dst[0], err = sample.Argmax(s)
	return err
}

// subject is a target and a draft with some likeness, and how many passes each made.
func subject(params sample.Params) (s proof.Subject, target, draft *int) {
	target, draft = new(int), new(int)
	const vocab = 12
	small := talker{vocab, 0.72, draft}
	return proof.Subject{
		Target: talker{vocab, 0.7, target}, Prompt: []int32{1, 2, 3}, Params: params,
		IsStop: func(id int32) bool { return id == 11 }, Text: func(id int32) string { return fmt.Sprint("t", id) }, Gammas: []int{1, 3},
		Proposers: []proof.Proposer{
			{Name: "draft", New: func(wrap proof.Wrap) (spec.Proposer, error) {
				return spec.NewDraftModel(wrap("draft", small), vocab, vocab)
			}},
			{Name: "heads", Refused: "there are none"},
			{Name: "mute", New: func(proof.Wrap) (spec.Proposer, error) { return spec.NewNgram(9, 9), nil }},
		},
		Rules: []proof.Rule{{Name: spec.Token, New: verifier}, {Name: spec.Block, New: verifier}},
	}, target, draft
}

func verifier() proof.Verifier { return spec.NewVerifier() }

var options = proof.Options{Seconds: 600, Trials: 20_000, Seed: 3, Now: time.Now}

func TestVerdicts(t *testing.T) {
	s, target, draft := subject(sample.Params{Temperature: 1, TopP: 1})
	r, err := proof.Run(t.Context(), s, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Cases {
		got = append(got, fmt.Sprintf("%s %s %s", c.Proposer, c.Rule, c.Verdict))
	}
	want := "draft token same, draft block same, heads token unavailable, heads block unavailable, mute token untested, mute block untested"
	if strings.Join(got, ", ") != want || !r.Matched() || r.Tested != 2 {
		t.Errorf("verdicts %q, %d tested", got, r.Tested)
	}
	// Forty thousand replies, and a pass for each context that matters: the places, and eight behind the chosen one.
	if *target > 80 || *draft > 80 {
		t.Errorf("%d passes of the target and %d of the draft", *target, *draft)
	}
	for _, c := range r.Cases[:2] {
		if c.Trials != 20_000 || c.Cells < 20 || c.Notices > 0.05 || c.DistanceBound < c.Distance || c.Drafted == 0 || c.Accepted == 0 {
			t.Errorf("%+v", c)
		}
	}
}

// generous keeps tokens a little too often, by taking the uniforms of the test for smaller than they are.
type generous struct {
	*spec.Verifier
}

type smaller struct{ sample.Uniforms }

func (u smaller) Uniform(s sample.Stream, round, position int) float64 {
	x := u.Uniforms.Uniform(s, round, position)
	if s == sample.AcceptTest {
		x /= 1.1
	}
	return x
}

func (g generous) Verify(target spec.Rows, draft spec.Draft, terms spec.Terms) (spec.Outcome, error) {
	terms.Uniforms = smaller{terms.Uniforms}
	return g.Verifier.Verify(target, draft, terms)
}

func TestARuleThatKeepsTooMuchDiffers(t *testing.T) {
	s, _, _ := subject(sample.Params{Temperature: 1, TopP: 1})
	for i := range s.Rules {
		s.Rules[i].New = func() proof.Verifier { return generous{spec.NewVerifier()} }
	}
	r, err := proof.Run(t.Context(), s, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases[:2] {
		if c.Verdict != proof.Differs || c.Why == "" {
			t.Errorf("%s: %+v", c.Rule, c)
		}
	}
	if r.Matched() {
		t.Error("the report says that all is well")
	}
}

func TestAtTemperatureZeroAnyOtherTokenIsSeen(t *testing.T) {
	s, _, _ := subject(sample.Params{TopP: 1})
	r, err := proof.Run(t.Context(), s, options, nil)
	if err != nil || !r.Matched() || r.Cases[0].Power2 != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	s.Rules = s.Rules[:1]
	s.Rules[0].New = func() proof.Verifier { return parrot{} }
	if r, err = proof.Run(t.Context(), s, options, nil); err != nil || r.Matched() {
		t.Errorf("a verifier that keeps every draft passes: %+v, %v", r, err)
	}
}

// parrot keeps whatever was drafted.
type parrot struct{}

func (parrot) Verify(_ spec.Rows, draft spec.Draft, _ spec.Terms) (spec.Outcome, error) {
	out := spec.Outcome{Accepted: len(draft.Tokens), Commit: spec.Judged{ID: 5, Verdict: "bonus"}}
	for _, id := range draft.Tokens {
		out.Draft = append(out.Draft, spec.Judged{ID: id})
	}
	return out, nil
}

func TestRunRefuses(t *testing.T) {
	s, _, _ := subject(sample.Params{Temperature: 1, TopP: 1})
	s.Prompt = nil
	if _, err := proof.Run(t.Context(), s, options, nil); err == nil || !strings.Contains(err.Error(), "no tokens") {
		t.Errorf("without a prompt: %v", err)
	}
	s.Prompt, s.Rules = []int32{1}, nil
	if _, err := proof.Run(t.Context(), s, options, nil); err == nil || !strings.Contains(err.Error(), "no rule") {
		t.Errorf("without a rule: %v", err)
	}
}

func Example() {
	s, _, _ := subject(sample.Params{Temperature: 0.8, TopP: 0.95})
	r, err := proof.Run(context.Background(), s, proof.Options{Seconds: 600, Trials: 5000, Seed: 1, Now: time.Now}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Cases[0].Proposer, r.Cases[0].Rule, r.Cases[0].Verdict, r.Lossless)
	// Output: draft token same true
}

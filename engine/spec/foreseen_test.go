package spec

import (
	"errors"
	"testing"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/sample"
)

// decided is a pass that a device has judged. Its rows cannot be read.
type decided struct {
	t *testing.T
	compute.Drawn
}

func (d decided) Decision() compute.Drawn { return d.Drawn }
func (d decided) Rows() int               { return len(d.Draft) + 1 }
func (d decided) Vocab() int              { return 50 }
func (d decided) Argmax([]int32) error    { d.t.Error("argmaxes were read"); return nil }
func (d decided) Row(int, []float32) error {
	d.t.Error("a row was read")
	return nil
}

func TestAVerdictOfADeviceIsTakenOver(t *testing.T) {
	stop := func(id int32) bool { return id == 9 }
	for name, c := range map[string]struct {
		ids                  []int32
		judged               int // more than len(ids) if the draft ended early
		accepted             int
		follows              int32
		kept, tested, commit int
		verdict              event.Verdict
		stops                bool
		err                  error
	}{
		"plain":                      {nil, 0, 0, 4, 0, 0, 4, event.Plain, false, nil},
		"bonus":                      {[]int32{1, 2}, 2, 2, 4, 2, 2, 4, event.Bonus, false, nil},
		"resampled":                  {[]int32{1, 2, 3}, 3, 1, 4, 1, 2, 4, event.Resampled, false, nil},
		"accepted beyond a stop":     {[]int32{1, 9}, 4, 4, 4, 2, 2, -1, "", true, nil},
		"accepted up to a stop":      {[]int32{1, 9}, 4, 2, 4, 2, 2, -1, "", true, nil},
		"a stop refused":             {[]int32{1, 9}, 4, 1, 4, 1, 2, 4, event.Resampled, false, nil},
		"a stop follows":             {[]int32{1}, 1, 0, 9, 0, 1, 9, event.Resampled, true, nil},
		"a draft that ended in NaN":  {[]int32{1, 2}, 5, 2, 4, 2, 2, 4, event.Bonus, false, nil},
		"a row that is not finite":   {[]int32{1, 2}, 2, 1, -1, 1, 0, 0, "", false, compute.ErrNotFinite},
		"a draft that was not drawn": {nil, 3, 0, 4, 0, 0, 4, event.Plain, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := decided{t, compute.Drawn{Verdict: compute.Verdict{Accepted: c.accepted, Follows: c.follows}, P: 0.5}}
			d.Draft = make([]compute.Chance, c.judged)
			draft := Draft{Tokens: c.ids}
			for i := range c.ids {
				draft.Q, d.Draft[i] = append(draft.Q, sample.Elsewhere()), compute.Chance{ID: c.ids[i], P: 0.25, Q: 0.75}
			}
			o, err := NewVerifier().Verify(d, draft, Terms{Params: warm, Uniforms: sample.NewPhilox(1, 2), IsStop: stop})
			if !errors.Is(err, c.err) || (err != nil) != (c.err != nil) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if o.Accepted != c.kept || o.Path != Stochastic {
				t.Errorf("kept %d by the path %s, want %d", o.Accepted, o.Path, c.kept)
			}
			if err != nil {
				return
			}
			if o.Tested != c.tested || o.Stop != c.stops || o.Commit.Verdict != c.verdict || c.verdict != "" && int(o.Commit.ID) != c.commit {
				t.Errorf("%+v", o)
			}
			for i := range o.Draft[:o.Tested] {
				if j := o.Draft[i]; j.P != 0.25 || j.Q != 0.75 || j.U != sample.NewPhilox(1, 2).Uniform(sample.AcceptTest, 0, i) {
					t.Errorf("draft token %d: %+v", i, j)
				}
			}
		})
	}
}

func TestSamplingIsWhatADeviceCanMake(t *testing.T) {
	u := sample.NewPhilox(5<<32|6, 7)
	a := Ask{Params: sample.Params{Temperature: 0.8, TopP: 0.9, TopK: 3, MinP: 0.1}, Uniforms: u, Round: 4, Sharpen: 0.5, Look: true}
	s, ok := a.sampling(2, 40)
	want := compute.Sampling{Seed: 5<<32 | 6, Reply: 7, Round: 4, Drafts: 2, Vocab: 40, Keep: 1,
		Target: compute.Filters{Temperature: 0.8, TopP: 0.9, TopK: 3, MinP: 0.1}, Draft: compute.Filters{Temperature: 0.4, TopP: 0.9, TopK: 3, MinP: 0.1}}
	if !ok || s != want {
		t.Errorf("%+v %v, want %+v", s, ok, want)
	}
	a.Rule, a.Written = ExactMatch, 30
	want.Judgement, want.Written = compute.OwnDraws, 30
	if s, ok := a.sampling(2, 40); !ok || s != want {
		t.Errorf("by the rule exact: %+v %v, want %+v", s, ok, want)
	}
	for name, refused := range map[string]struct {
		terms Terms
		n     int
	}{
		"temperature 0":        {Terms{Params: sample.Params{TopP: 1}, Uniforms: u}, 1},
		"too many tokens":      {Terms{Params: a.Params, Uniforms: u}, compute.MostDrafts + 1},
		"other uniforms":       {Terms{Params: a.Params, Uniforms: struct{ sample.Uniforms }{u}}, 1},
		"a rule of the host's": {Terms{Params: a.Params, Uniforms: u, Rule: TypicalLossy}, 1},
	} {
		if _, ok := refused.terms.Sampling(refused.n); ok {
			t.Errorf("%s: not refused", name)
		}
	}
}

// Under the rule exact a verdict has no uniform, and q is that of the host where the host has drafted.
func TestAVerdictOfOwnDrawsIsTakenOver(t *testing.T) {
	d := decided{t, compute.Drawn{Verdict: compute.Verdict{Accepted: 1, Follows: 4}, P: 0.5,
		Draft: []compute.Chance{{ID: 1, P: 0.25, Q: 1}, {ID: 2, P: 0.25, Q: 1}, {ID: 3, P: 0.25, Q: 1}}}}
	draft := Draft{Tokens: []int32{1, 2, 3}, Q: []sample.Dist{dist(0, 0.75, 0.25), sample.OneHot(2), sample.Elsewhere()}}
	terms := Terms{Params: warm, Uniforms: sample.NewPhilox(1, 2), Rule: ExactMatch, Device: true}
	o, err := NewVerifier().Verify(d, draft, terms)
	must(t, err)
	if o.Path != Stochastic || o.Accepted != 1 || o.Tested != 2 || o.Commit.ID != 4 || o.Commit.Verdict != event.Resampled {
		t.Errorf("%+v", o)
	}
	for i, q := range []float64{0.75, 1, Unknown} {
		if j := o.Draft[i]; j.Q != q || j.U != Unknown || j.Bound != Unknown {
			t.Errorf("draft token %d: %+v, want q %g and no test", i, j, q)
		}
	}
}

// Under the rule block a verdict has a bound for each token, up to one of weight 0.
func TestAVerdictOfABlockIsTakenOver(t *testing.T) {
	d := decided{t, compute.Drawn{Verdict: compute.Verdict{Accepted: 1, Follows: 4}, P: 0.5,
		Draft: []compute.Chance{{ID: 1, P: 0.25, Q: 0.5, Bound: 0.75}, {ID: 2, P: 0.25, Q: 0.5, Bound: 0.125}, {ID: 3, Bound: 0}, {ID: 4, Bound: -1}}}}
	draft := Draft{Tokens: []int32{1, 2, 3, 4}, Q: []sample.Dist{sample.Elsewhere(), sample.Elsewhere(), sample.Elsewhere(), sample.Elsewhere()}}
	terms := Terms{Params: warm, Uniforms: sample.NewPhilox(1, 2), Rule: Block, Device: true}
	o, err := NewVerifier().Verify(d, draft, terms)
	must(t, err)
	if o.Path != Stochastic || o.Accepted != 1 || o.Tested != 2 || o.Commit.ID != 4 || o.Commit.Verdict != event.Resampled {
		t.Errorf("%+v", o)
	}
	for i, bound := range []float64{0.75, 0.125, 0, Unknown} {
		u := sample.NewPhilox(1, 2).Uniform(sample.AcceptTest, 0, i)
		if bound == Unknown {
			u = Unknown
		}
		if j := o.Draft[i]; j.Bound != bound || j.U != u {
			t.Errorf("draft token %d: %+v, want the bound %g and u %g", i, j, bound, u)
		}
	}
}

// On a device, a rule that the device can judge by needs no rows on the host; every other rule does.
func TestRulesOfADevice(t *testing.T) {
	for _, rule := range Rules {
		terms := Terms{Params: warm, Rule: rule.Rule}
		if want := rule.Rule != Token; terms.RuleNeedsRows() != want || (Eligible(&terms) == Fallback) != want {
			t.Errorf("%s on a processor: rows are needed: %v, the path is %s", rule.Rule, terms.RuleNeedsRows(), Eligible(&terms))
		}
		terms.Device, terms.Mixed = true, true
		if want := rule.device == nil; terms.RuleNeedsRows() != want || (Eligible(&terms) == Fallback) != want {
			t.Errorf("%s on a device: rows are needed: %v, the path is %s", rule.Rule, terms.RuleNeedsRows(), Eligible(&terms))
		}
		if terms.Params.Temperature = 0; terms.RuleNeedsRows() || Eligible(&terms) != Greedy {
			t.Errorf("%s at temperature 0: the path is %s", rule.Rule, Eligible(&terms))
		}
	}
}

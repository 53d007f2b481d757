package spec

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Decided are Rows of a pass that was judged where it was made, by the rule token: the draft stayed there, and so did the rows.
type Decided interface {
	Rows
	Decision() compute.Drawn
}

// foreseen is the decision of a device in the place of a rule and of predictions. What is left to do is to stop at a token that ends
// the reply, which the device does not know of: what it kept behind one is dropped, and does not count.
type foreseen struct {
	decision compute.Drawn
}

// repeat fills in what came of the round.
func (f *foreseen) repeat(e *evidence, out *Outcome) error {
	if n := len(e.judged); n > len(f.decision.Draft) {
		return fmt.Errorf("verifying a draft of %d tokens: the device judged %d", n, len(f.decision.Draft))
	}
	if err := decide(f, f, e, out); err != nil {
		return fmt.Errorf("verifying row %d of %d: %w", out.Accepted, len(e.judged)+1, err)
	}
	return nil
}

// at knows of no distribution, but whether there is one where it decides.
func (f *foreseen) at(i int) (sample.Dist, error) {
	if i == f.decision.Accepted && f.decision.Follows < 0 {
		return sample.Dist{}, fmt.Errorf("the target's scores: %w", compute.ErrNotFinite)
	}
	return sample.Elsewhere(), nil
}

func (f *foreseen) close() {}

func (f *foreseen) begin() {}

func (f *foreseen) weigh(e *evidence, i int, _ sample.Dist) bool {
	t := &e.judged[i]
	t.P, t.Q, t.U = f.decision.Draft[i].P, f.decision.Draft[i].Q, e.uniform(sample.AcceptTest, i)
	return i < f.decision.Accepted
}

func (f *foreseen) settle(_ *evidence, n int) int { return min(n, f.decision.Accepted) }

func (f *foreseen) replace(*evidence, int) Judged { return f.follows() }

func (f *foreseen) follow(*evidence, int, sample.Dist) Judged { return f.follows() }

func (f *foreseen) follows() Judged {
	t := unjudged(f.decision.Follows)
	t.P = f.decision.P
	return t
}

package spec

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Decided are the Rows of a pass whose draft the device has judged by the rule token. Neither the draft's
// distributions nor the rows were copied to the host.
type Decided interface {
	Rows
	Decision() compute.Drawn
}

// foreseen replays a verdict of the device: it takes the place of both the acceptance rule and the
// predictions in decide. It adds only the search for stop tokens, which the device does not do: decide
// drops tokens that the device accepted after a stop token.
type foreseen struct {
	decision compute.Drawn
}

// repeat fills in the outcome of the round from the device's verdict.
func (f *foreseen) repeat(e *evidence, out *Outcome) error {
	if n := len(e.judged); n > len(f.decision.Draft) {
		return fmt.Errorf("verifying a draft of %d tokens: the device judged %d", n, len(f.decision.Draft))
	}
	if err := decide(f, f, e, out); err != nil {
		return fmt.Errorf("verifying row %d of %d: %w", out.Accepted, len(e.judged)+1, err)
	}
	return nil
}

// at returns sample.Elsewhere, or an error if the row that gives the next token is not finite.
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

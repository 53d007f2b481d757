package spec

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Decided are the Rows of a pass whose draft the device has judged by the rule of the terms. The rows were
// not copied to the host.
type Decided interface {
	Rows
	Decision() compute.Drawn
}

// foreseen replays a verdict of the device: it takes the place of both the acceptance rule and the
// predictions in decide. It adds only the search for stop tokens, which the device does not do: decide
// drops tokens that the device accepted after a stop token.
type foreseen struct {
	decision compute.Drawn
	rule     *byDevice
	// host predicts the token that the device could not draw, and draws it by the rule host.acceptance; nil: the
	// host need not, since no shaper can be the reason.
	host *onHost
}

// onHost judges the row after the accepted tokens, from its scores.
type onHost struct {
	predictions
	acceptance
}

// byDevice is a rule by which a device can judge.
type byDevice struct {
	judgement compute.Judgement
	anyDraft  bool // the device needs no q
	// test notes in e.judged[i] the numbers of its test that the device did not tell. It returns false if no
	// later token has such numbers.
	test func(e *evidence, i int, decision *compute.Drawn) bool
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

// at returns sample.Elsewhere, or what the host predicts if the device could draw no token. It returns an error if
// the host cannot either.
func (f *foreseen) at(i int) (sample.Dist, error) {
	switch {
	case i != f.decision.Accepted || f.decision.Follows >= 0:
		return sample.Elsewhere(), nil
	case f.host != nil:
		p, err := f.host.predictions.at(i)
		if err != nil || i == len(f.decision.Draft) {
			return p, err
		}
	}
	return sample.Dist{}, fmt.Errorf("the target's scores: %w", compute.ErrNotFinite)
}

func (f *foreseen) close() {}

func (f *foreseen) begin() {}

func (f *foreseen) weigh(e *evidence, i int, _ sample.Dist) bool {
	t := &e.judged[i]
	t.P, t.Q = f.decision.Draft[i].P, f.decision.Draft[i].Q
	return f.rule.test(e, i, &f.decision)
}

// testedToken is byDevice.test of the rule token.
func testedToken(e *evidence, i int, decision *compute.Drawn) bool {
	e.judged[i].U = e.uniform(sample.AcceptTest, i)
	return i < decision.Accepted
}

// testedBlock is byDevice.test of the rule block. After the weight has fallen to 0 there is no test. The device
// does not know of stop tokens: for one, and for tokens before it, it tells the chance that the block ends there
// although the draft goes on.
func testedBlock(e *evidence, i int, decision *compute.Drawn) bool {
	bound := decision.Draft[i].Bound
	if bound < 0 {
		return false
	}
	e.judged[i].U, e.judged[i].Bound = e.uniform(sample.AcceptTest, i), bound
	return true
}

// drawnToken is byDevice.test of the rule exact. The device does not know the q of a draft from the host.
func drawnToken(e *evidence, i int, decision *compute.Drawn) bool {
	if q := e.draft.Q[i]; !q.IsElsewhere() {
		e.judged[i].Q = q.Prob(e.judged[i].ID)
	}
	return i < decision.Accepted
}

func (f *foreseen) settle(_ *evidence, n int) int { return min(n, f.decision.Accepted) }

func (f *foreseen) replace(*evidence, int) Judged { return f.follows() }

func (f *foreseen) follow(e *evidence, n int, p sample.Dist) Judged {
	if f.decision.Follows < 0 {
		return f.host.follow(e, n, p)
	}
	return f.follows()
}

func (f *foreseen) follows() Judged {
	t := unjudged(f.decision.Follows)
	t.P = f.decision.P
	return t
}

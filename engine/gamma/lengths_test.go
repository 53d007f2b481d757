package gamma_test

import (
	"math"
	"testing"

	"specula/engine/gamma"
)

// The expected speed of each draft length follows from acceptance and times. The list ends before a
// length far beyond those that were timed.
func TestLengthsFollowFromWhatWasMeasured(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 2, Max: 8, Nominal: &gamma.NominalCosts{DraftStep: 9, Verify: 1, VerifyRow: 9}})
	if got := c.Lengths(); got != nil {
		t.Fatalf("nothing was timed: %v", got)
	}
	for range 400 { // every second first token is kept, and never a second one; its estimate drifts a little upwards
		for _, accepted := range []int{0, 1} {
			c.Observe(gamma.Observation{Asked: true, Drafted: 2, Tested: accepted + 1, Accepted: accepted, DraftMS: 2, VerifyMS: 12})
		}
		c.Observe(gamma.Observation{VerifyMS: 10})
	}
	got := c.Lengths()
	if len(got) != 6 { // three rows were timed, so at most six
		t.Fatalf("%d lengths: %v", len(got), got)
	}
	for i, want := range []gamma.Length{{1, 1, true}, {1.5, 1.2, false}, {1.57, 1.4, true}, {1.58, 1.5, false}} {
		if math.Abs(got[i].Tokens-want.Tokens) > 0.03 || math.Abs(got[i].Cost-want.Cost) > 0.03 || got[i].Measured != want.Measured {
			t.Errorf("γ %d: %+v, want %+v", i, got[i], want)
		}
	}
}

// With a fixed γ, rounds of no other length are timed. The lengths below it are told all the same.
func TestTheLengthInUseIsTold(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 5, Max: 5})
	for range 4 {
		c.Observe(gamma.Observation{Asked: true, Drafted: 5, Tested: 5, Accepted: 5, DraftMS: 5, VerifyMS: 20})
		c.Observe(gamma.Observation{VerifyMS: 10})
	}
	got := c.Lengths()
	if len(got) != 6 {
		t.Fatalf("%d lengths: %v", len(got), got)
	}
	for i, want := range []float64{1, 1.3, 1.6, 1.9, 2.2, 2.5} {
		if math.Abs(got[i].Cost-want) > 0.01 || got[i].Measured != (i == 0 || i == 5) {
			t.Errorf("γ %d: %+v, want the cost %g", i, got[i], want)
		}
	}
}

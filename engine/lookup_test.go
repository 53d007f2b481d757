package engine_test

import (
	"testing"
	"time"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
)

// A proposer that only looks up is asked in every round, and what it finds is verified as far as such finds have held: at first
// little of it, and all of it when the same is asked again.
func TestLookedUpDraftsAreTrimmed(t *testing.T) {
	backend := &timed{Backend: host.New(1), now: time.Unix(0, 0)}
	t.Cleanup(func() { _ = backend.Close() })
	o := options(backend)
	o.Now = func() time.Time { return backend.now }
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, proposer := range []string{"ngram", "suffix"} {
		t.Run(proposer, func(t *testing.T) {
			s := session(t, e, "temperature", "0", "max-tokens", "64", "proposer", proposer)
			first := write(t, s, user("What is speculative decoding?"), nil).ended.Totals
			again := write(t, s, user("What is speculative decoding?"), nil)
			if wasted := first.Tested - first.Accepted; wasted > 6 {
				t.Errorf("%d looked-up tokens were refused in %d rounds before the rule had learned", wasted, first.Rounds)
			}
			if total := again.ended.Totals; float64(total.Tokens) < 4*float64(total.Rounds) {
				t.Errorf("asked again: %d tokens in %d rounds, want at least 4 a round", total.Tokens, total.Rounds)
			}
			for _, r := range again.rounds {
				if r.Gamma != len(r.Draft) {
					t.Errorf("round %d: γ %d, %d tokens drafted", r.Index, r.Gamma, len(r.Draft))
				}
			}
		})
	}
}

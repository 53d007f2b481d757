package priced_test

import (
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/event"
)

// A lookup proposer is asked in each round. How much of its draft is verified depends on how such drafts
// did so far: at first at most 6 tokens are refused; when the question is asked again, a round writes at least 4.
func TestLookedUpDraftsAreTrimmed(t *testing.T) {
	for _, proposer := range []string{"ngram", "suffix"} {
		t.Run(proposer, func(t *testing.T) {
			t.Parallel()
			s, err := load(t, assets.Draft(), proposer).NewSession(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for name, value := range map[string]string{"sampling.temperature": "0", "sampling.max_tokens": "64"} {
				if err := s.Change(name, value); err != nil {
					t.Fatal(err)
				}
			}
			first, _ := ask(t, s)
			again, rounds := ask(t, s)
			if wasted := first.Tested - first.Accepted; wasted > 6 {
				t.Errorf("%d looked-up tokens were refused in %d rounds before the rule had learned", wasted, first.Rounds)
			}
			if float64(again.Tokens) < 4*float64(again.Rounds) {
				t.Errorf("asked again: %d tokens in %d rounds, want at least 4 a round", again.Tokens, again.Rounds)
			}
			for _, r := range rounds {
				if r.Gamma != len(r.Draft) {
					t.Errorf("round %d: γ %d, %d tokens drafted", r.Index, r.Gamma, len(r.Draft))
				}
			}
		})
	}
}

// ask asks a fixed question, and returns the totals and the rounds.
func ask(t *testing.T, s *engine.Session) (total event.Totals, rounds []event.Round) {
	t.Helper()
	for e := range s.Generate(t.Context(), asked("What is speculative decoding?")) {
		switch e := e.(type) {
		case event.Round:
			rounds = append(rounds, e)
		case event.ReplyEnded:
			total = e.Totals
		}
	}
	if len(rounds) == 0 || total.Tokens == 0 {
		t.Fatalf("%d rounds, %d tokens", len(rounds), total.Tokens)
	}
	return total, rounds
}

package engine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"specula/engine"
	"specula/engine/event"
)

// listed returns the probability of a token in a list of candidates, if it is in the list.
func listed(list []event.Candidate, id int32) (p float64, ok bool) {
	i := slices.IndexFunc(list, func(c event.Candidate) bool { return c.ID == id })
	if i < 0 {
		return 0, false
	}
	return list[i].P, true
}

// sameFigures checks that a token has the same p and q in the lists of candidates as in its own fields, and
// returns how many q it compared.
func sameFigures(t *testing.T, what string, token event.Token) (compared int) {
	t.Helper()
	if p, ok := listed(token.Target, token.ID); ok && token.P != nil && math.Abs(p-*token.P) > 1e-12 { // the rule block computes p back from the residual, because it keeps no row
		t.Errorf("%s: %q has p %v, and %v in the target's list", what, token.Text, *token.P, p)
	}
	q, ok := listed(token.Draft, token.ID)
	if ok && token.Q != nil && q != *token.Q {
		t.Errorf("%s: %q has q %v, and %v in the draft's list", what, token.Text, *token.Q, q)
	}
	if ok && token.Q != nil {
		compared++
	}
	return compared
}

// The inspector's candidates show the distribution that each token was drawn from, with every kind of proposer that
// draws its draft, and at several temperatures.
func TestCandidatesShowWhatWasDrawnFrom(t *testing.T) {
	strangers := translated(t, strange(t, func(string) bool { return false }), "tokens")
	for _, c := range []struct {
		proposer string
		e        *engine.Engine
	}{{"draft", pair()}, {"skip", pair()}, {"eagle", pair()}, {"medusa", pair()}, {"combined", pair()}, {"draft", strangers}} {
		compared, sharper := 0, 0
		for _, settings := range [][]string{
			{"temperature", "0.5"}, {"temperature", "0.9", "top-k", "40", "top-p", "0.95"}, {"temperature", "1.3", "min-p", "0.02", "temperature-last", "on"},
			{"temperature", "0.9", "acceptance", "block", "repeat-penalty", "1.2"},
		} {
			s := session(t, c.e, append([]string{"proposer", c.proposer, "seed", "3", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "3"}, settings...)...)
			r := write(t, s, user("Tell me about speculative decoding"), nil)
			if r.failed != "" {
				t.Fatal(r.failed)
			}
			for _, round := range r.rounds {
				what := fmt.Sprintf("%s, %v, round %d", c.proposer, settings, round.Index)
				for _, token := range round.Draft {
					compared += sameFigures(t, what, token)
				}
				if round.Commit != nil {
					sameFigures(t, what+", after the draft", *round.Commit)
				}
				drawn := len(round.Draft) > 0 && round.Proposer != "suffix"
				if (round.DraftTemperature > 0) != drawn || round.DraftTemperature > round.Temperature {
					t.Errorf("%s: %d tokens drafted by %s at temperature %g", what, len(round.Draft), round.Proposer, round.DraftTemperature)
				}
				if drawn && round.DraftTemperature < round.Temperature {
					sharper++
				}
			}
		}
		if compared < 40 || sharper == 0 {
			t.Errorf("%s: %d draft tokens compared, %d drafts sharper than the target", c.proposer, compared, sharper)
		}
	}
}

// A draft that was not drawn at random has no temperature. A draft that was looked up has no other
// choices either. At temperature 0 a draft model takes its best token: then the candidates show the model's
// plain softmax, but the event has no q, because no token was drawn from it.
func TestCertainDraftsHaveNoTemperature(t *testing.T) {
	for _, c := range []struct {
		proposer, temperature string
		candidates            bool
	}{{"suffix", "0.8", false}, {"ngram", "0.8", false}, {"draft", "0", true}, {"suffix", "0", false}} {
		s := session(t, pair(), "proposer", c.proposer, "temperature", c.temperature, "seed", "3", "max-tokens", "40", "gamma-rule", "fixed", "gamma", "3")
		drafted := 0
		for _, round := range write(t, s, user("repeat after me: one two three one two three one two three"), nil).rounds {
			if round.DraftTemperature != 0 {
				t.Errorf("%v: round %d was drafted at temperature %g", c, round.Index, round.DraftTemperature)
			}
			for _, token := range round.Draft {
				drafted++
				if (len(token.Draft) > 0) != c.candidates || c.temperature == "0" && token.Q != nil || c.temperature != "0" && token.Q != nil && *token.Q != 1 {
					t.Errorf("%v: %q has q %v and %d of the draft's choices", c, token.Text, token.Q, len(token.Draft))
				}
			}
		}
		if drafted == 0 {
			t.Errorf("%v: nothing was drafted", c)
		}
	}
}

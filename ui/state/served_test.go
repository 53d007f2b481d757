package state_test

import (
	"testing"

	"specula/engine/event"
	"specula/ui/state"
)

// vLLM tells only at the end what its rounds had drafted: until then nothing counts as tested, and then
// the refused tokens stand as blanks before the server's own token.
func TestCountsThatComeAtTheEndCompleteTheRounds(t *testing.T) {
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1, Prompt: "hi"})
	round := func(index int, kept ...string) event.Round {
		r := event.Round{Index: index, Path: "reported", Proposer: "server", Accepted: len(kept), Server: &event.ServerRound{Round: index, Drafted: event.Untold, Kept: event.Untold},
			Commit: &event.Token{Text: "own", Raw: []byte("own"), Verdict: event.Plain}}
		for _, k := range kept {
			r.Draft = append(r.Draft, event.Token{Text: k, Raw: []byte(k), Verdict: event.Accepted})
		}
		return r
	}
	s.Apply(round(0))
	s.Apply(round(1, "a", "b"))
	s.Apply(round(2, "c"))
	if w := s.Recent(9); w.Tested != 0 || s.Reply.Totals.Accepted != 0 {
		t.Errorf("before the server told: %+v, %+v", w, s.Reply.Totals)
	}
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "stop", Served: []event.ServerRound{{Round: 1, Drafted: 4, Kept: 2}, {Round: 2, Drafted: 1, Kept: 1}},
		Totals: event.Totals{Tokens: 6, Drafted: 5, Tested: 4, Accepted: 3}})
	fates := ""
	for _, token := range s.Messages[1].Tokens {
		fates += token.Text + ":" + string(token.Fate) + " "
	}
	if want := "own:plain a:accepted b:accepted [2]:rejected _:discarded own:resampled c:accepted own:bonus "; fates != want {
		t.Errorf("%s\nwant %s", fates, want)
	}
	w := s.Recent(9)
	if w.Drafted != 5 || w.Tested != 4 || w.Accepted != 3 {
		t.Errorf("after the server told: %+v", w)
	}
	if got := s.Reply.Totals.PositionTested; len(got) != 3 || got[0] != 2 {
		t.Errorf("positions %v", got)
	}
	if len(s.Last.Draft) != 1 || s.Last.Commit.Fate != event.Bonus {
		t.Errorf("last round: %+v", s.Last)
	}
}

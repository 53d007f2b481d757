package event_test

import (
	"testing"

	"specula/engine/event"
)

// Several rounds of a server may arrive as one. The list that the server sends at the end tells which tokens were
// drafted and which were the target's own.
func TestMergedRoundsThatAreToldLater(t *testing.T) {
	r := event.Round{Index: 5, Server: &event.ServerRound{Drafted: event.Untold, Kept: event.Untold}, Commit: &event.Token{ID: 9, Verdict: event.Plain}}
	for id := range int32(4) {
		r.Draft = append(r.Draft, event.Token{ID: id, Verdict: event.Accepted})
	}
	before := r.Draft
	served := event.Served{{Round: 3, Drafted: 4}, {Round: 5, Drafted: 8, Kept: 3, Merged: 2, Parts: []int{2, 1}}}
	if other := (event.Round{Index: 4, Server: r.Server}); served.Complete(&other) {
		t.Error("a round that the server did not list was completed")
	}
	if !served.Complete(&r) {
		t.Fatal("the round was not found")
	}
	want := []event.Verdict{event.Accepted, event.Accepted, event.Bonus, event.Accepted}
	for i, v := range want {
		if r.Draft[i].Verdict != v {
			t.Errorf("token %d: %s, want %s", i, r.Draft[i].Verdict, v)
		}
	}
	if before[2].Verdict != event.Accepted {
		t.Error("the event that was told before has changed")
	}
	if r.Gamma != 8 || r.Accepted != 3 || r.Tested != 3 || r.Server.Kept != 3 {
		t.Errorf("drafted %d, accepted %d, tested %d, server %+v", r.Gamma, r.Accepted, r.Tested, r.Server)
	}
	if tested, kept := r.CountPositions(nil, nil); tested != nil || kept != nil {
		t.Errorf("positions %v of %v in rounds that are not told apart", kept, tested)
	}
}

// A recording may claim anything of a server's rounds.
func TestImpossibleCountsOfAServerAreLeftOut(t *testing.T) {
	draft := []event.Token{{ID: 1, Verdict: event.Accepted}, {ID: 2, Verdict: event.Accepted}}
	for _, s := range []event.ServerRound{
		{Drafted: 1 << 40}, {Drafted: 1}, {Drafted: 4, Merged: 2, Parts: []int{-9, 1}}, {Drafted: 4, Merged: 2, Parts: []int{1, 1 << 62}},
	} {
		r := event.Round{Draft: draft, Server: &event.ServerRound{Drafted: event.Untold}}
		if (event.Served{s}).Complete(&r) {
			t.Errorf("%+v was believed", s)
		}
	}
}

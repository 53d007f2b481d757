package pane_test

import (
	"strings"
	"testing"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/theme"
)

// Of a server's own rounds the panes say what it reports, and that the rest is not known: nothing waits for
// figures that never come, and no round has a time of drafting.
func TestPanesSayWhatAServerDoesNotTell(t *testing.T) {
	s := state.New()
	s.Apply(event.Ready{Target: event.Model{Name: "far"}})
	s.Apply(event.ReplyStarted{Reply: 1, Settings: event.Settings{Gamma: 4, GammaMax: 8, GammaRule: "server", Proposer: "server", Speculate: true, Watch: true}})
	s.Apply(event.Round{GammaRule: "server", Proposer: "none", Path: "reported", VerifyMS: 500, Server: &event.ServerRound{}, Commit: &event.Token{ID: 4, Text: "d", Verdict: event.Plain}})
	s.Apply(event.Round{Index: 1, Gamma: 4, GammaRule: "server", Proposer: "server", Path: "reported", VerifyMS: 10, BytesMoved: 1200, Tested: 3, Accepted: 2,
		Server: &event.ServerRound{Round: 1, Drafted: 4, Kept: 2},
		Draft:  []event.Token{{ID: 1, Text: "a", Verdict: event.Accepted}, {ID: 2, Text: "b", Verdict: event.Accepted}, {ID: -1, Verdict: event.Rejected}, {ID: -1, Verdict: event.Discarded}},
		Commit: &event.Token{ID: 3, Text: "c", Verdict: event.Resampled}})
	th, _ := theme.Named("mono", true)
	drawn := words(strings.Join(append(append(pane.Head(s, th, 120, 3), pane.Lane(s, th, 120, 8, pane.LaneOptions{})...), pane.Side(s, th, 47, 24, pane.SideOptions{})...), "\n"))
	for _, text := range []string{
		"the server's own rounds with drafts 300 tok/s", "specula audit measures its gain without not known",
		"as the server reports it", "the server drafted 4, kept 2: [2] counts what it refused", "round 10.0 ms 1.2 kB", "Not known: the server chooses",
	} {
		if !strings.Contains(drawn, text) {
			t.Errorf("%q is missing in %q", text, drawn)
		}
	}
	for _, text := range []string{"not yet", "After some rounds", "draft 0.00 ms", "server reported server", "check rest - no draft", "without draft 500"} {
		if strings.Contains(drawn, text) {
			t.Errorf("%q stands in %q", text, drawn)
		}
	}
}

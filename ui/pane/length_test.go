package pane_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/state/statetest"
	"specula/ui/theme"
)

// drafting returns a reply with a fixed γ of 5. Its rounds draft the given numbers of tokens; -1 is a
// probe without a draft.
func drafting(drafted ...int) *state.State {
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1, Settings: event.Settings{Gamma: 5, GammaMax: 8, GammaRule: "fixed", Proposer: "suffix", Speculate: true}})
	for i, n := range drafted {
		s.Apply(roundOf(i, n))
	}
	return s
}

func roundOf(index, drafted int) event.Round {
	e := event.Round{Index: index, Gamma: 5, GammaRule: "fixed", GammaWhy: "because", Proposer: "suffix", Path: "greedy", Commit: &event.Token{Text: "a", Verdict: event.Plain}}
	if drafted < 0 {
		e.Gamma, e.Probe, e.GammaWhy = 0, true, "a plain round, to measure the speed-up against"
	}
	for range max(drafted, 0) {
		e.Draft = append(e.Draft, event.Token{Text: "b", Verdict: event.Accepted})
	}
	return e
}

// side returns the lines of the side column from the draft length on.
func side(s *state.State) []string {
	th, _ := theme.Named("mono", true)
	lines := strings.Split(ansi.Strip(strings.Join(pane.Side(s, th, 40, 50, pane.SideOptions{}), "\n")), "\n")
	for i, line := range lines {
		if strings.Contains(line, "draft length γ") {
			return lines[i:]
		}
	}
	return []string{"no draft length", ""}
}

// rule returns the rule above the prompt, with the settings in it.
func rule(s *state.State) string {
	th, _ := theme.Named("mono", true)
	return ansi.Strip(pane.SettingsRule(s, th, 80, false))
}

// A probe without a draft must not look like a γ of 0.
func TestAProbeLeavesGammaAsItIs(t *testing.T) {
	for _, c := range []struct {
		state           *state.State
		headline, strip string
		why             string
	}{
		{drafting(5, 2), "draft length γ 5 of 8 fixed", "γ 5 fixed ·", ""},
		{drafting(5, 2, -1), "draft length γ 5 of 8 ◦ fixed", "γ 5 fixed ◦ ·", "a plain round, to measure"},
		{drafting(-1), "draft length γ 5 of 8 ◦ fixed", "γ 5 fixed ◦ ·", "a plain round, to measure"},
		{drafting(5, -1, 5), "draft length γ 5 of 8 fixed", "γ 5 fixed ·", ""},
	} {
		got := side(c.state)
		if words := strings.Join(strings.Fields(got[0]), " "); words != c.headline || !strings.Contains(got[1], c.why) {
			t.Errorf("the panel says %q and %q, want %q and %q", words, got[1], c.headline, c.why)
		}
		if got := rule(c.state); !strings.Contains(got, c.strip) {
			t.Errorf("the rule above the prompt says %q, want %q", got, c.strip)
		}
	}
}

// A probe with a draft is marked even while its draft waits for the target.
func TestAPendingProbeIsMarked(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := drafting(5, 5)
	s.Apply(statetest.Ready())
	s.Apply(event.Drafted{Round: 2, Gamma: 7, Probe: true, Proposer: "suffix", Tokens: []event.Token{{Text: "b"}}})
	if got := strings.Join(strings.Fields(side(s)[0]), " "); got != "draft length γ 5 of 8 ◦ fixed" {
		t.Errorf("the panel says %q", got)
	}
	if got := ansi.Strip(pane.Lane(s, th, 80, 4, pane.LaneOptions{})[0]); !strings.Contains(got, "round 3  γ 7 ◦  from what came most often before") {
		t.Errorf("the lane says %q", got)
	}
}

// The reason for a probe is not shown in the next round.
func TestTheReasonForAProbeEndsWithIt(t *testing.T) {
	s := drafting(5, 5, -1)
	s.Apply(event.Drafted{Round: 3, Gamma: 5, Proposer: "suffix", Tokens: []event.Token{{Text: "b"}}})
	if got := strings.Join(strings.Fields(side(s)[0]), " "); got != "draft length γ 5 of 8 fixed" || strings.TrimSpace(side(s)[1]) != "" {
		t.Errorf("the panel says %q and %q", got, side(s)[1])
	}
}

// After the user has set γ or a rule, γ of the last reply is no longer shown. The next reply begins with
// the setting.
func TestGammaIsNeverOneOfBefore(t *testing.T) {
	s := drafting(5, 2)
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "stop"})
	check := func(when, want string) {
		t.Helper()
		if got := rule(s); !strings.Contains(got, " "+want+" ") {
			t.Errorf("%s the rule above the prompt says %q, want %q", when, got, want)
		}
		if got := side(s)[0]; !strings.Contains(got, want+" of 8") && want != "γ off" {
			t.Errorf("%s the panel says %q, want %q", when, got, want)
		}
	}
	s.Settings.Gamma = 3
	check("after /gamma 3", "γ 3")
	s.Apply(event.ReplyStarted{Reply: 2, Settings: event.Settings{Gamma: 3, GammaMax: 8, GammaRule: "fixed", Speculate: true}})
	check("while the next prompt is read", "γ 3")
	if got := side(s)[1]; strings.Contains(got, "because") {
		t.Errorf("while the next prompt is read the panel gives the reason of the reply before: %q", got)
	}
	s.Apply(event.SettingChanged{Name: "speculation.enabled", To: "false"})
	check("after /speculate off", "γ off")
	if got := side(s)[0]; !strings.Contains(got, "off") {
		t.Errorf("the panel says %q", got)
	}
}

// The last rounds before the limit of a reply have room for fewer tokens. Their γ is not what the rule chose,
// so it is not called the one in use, and no other is called faster than it.
func TestTheEndOfAReplyLeavesGammaAsItIs(t *testing.T) {
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1, Settings: event.Settings{Gamma: 4, GammaMax: 8, GammaRule: "cost-aware", Proposer: "suffix", Speculate: true}})
	for i, gamma := range []int{6, 6, 2, 0} {
		r := roundOf(i, gamma)
		r.Gamma, r.GammaRule, r.GammaOverruled = gamma, "cost-aware", gamma < 6
		s.Apply(r)
	}
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "length"})
	if got := side(s); !strings.Contains(got[0], "γ 6 of 8") || strings.Contains(got[1], "because") {
		t.Errorf("the panel says %q and %q", got[0], got[1])
	}
}

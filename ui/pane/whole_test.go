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

// The inspector says in full why a token was accepted or not, even in its narrow column at 80×24 and
// 100×30.
func TestVerdictsAreToldInFull(t *testing.T) {
	th, _ := theme.Named("mono", true)
	for _, c := range []struct {
		rule string
		fate event.Verdict
		want string
	}{
		{"token", event.Accepted, "Kept: it passed the test, so it counts as the target's own."},
		{"token", event.Rejected, "Refused: the draft liked it more than the target does, and the test failed."},
		{"token", event.Bonus, "Free: every draft token was kept, and the same pass gave one more from the target."},
		{"block", event.Accepted, "Kept: the block was kept up to here or further, so it counts as the target's own."},
		{"block", event.Rejected, "Refused: no test passed here or further on, so the block ends before it."},
		{"typical-lossy", event.Accepted, "Kept: the target finds it likely enough. This rule is lossy: it changes the target's distribution."},
	} {
		s := judgedBy(c.rule, false)
		m := s.Messages[len(s.Messages)-1]
		ref := state.Ref{Message: m.ID, Token: -1}
		for i := range m.Tokens {
			if m.Tokens[i].Fate == c.fate {
				ref.Token = i
			}
		}
		for _, size := range [][2]int{{80, 9}, {40, 20}} {
			lines := pane.Inspector(s, th, size[0], size[1], ref)
			for i, line := range lines {
				lines[i] = ansi.Cut(ansi.Strip(line), 0, 40) // at 80 columns the candidates stand beside it
			}
			if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); !strings.Contains(got, c.want) {
				t.Errorf("%v: no %q in\n%s", size, c.want, strings.Join(lines, "\n"))
			}
		}
	}
}

// A reason that does not fit into the lane is left out as a whole. The path of a round is told only if it is
// unusual.
func TestTheLaneGivesReasonsWholeOrNotAtAll(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := stateOf(statetest.Chat(24))
	for w, want := range map[int]string{
		50:  "",
		60:  "q is the draft's probability of the guess, p the target's",
		79:  "3.6 tokens expected in 17.9 ms, more a second than with any other length",
		160: "3.6 tokens expected in 17.9 ms, more a second than with any other length",
	} {
		if got := strings.TrimSpace(ansi.Strip(pane.Lane(s, th, w, 8, pane.LaneOptions{})[7])); got != want {
			t.Errorf("at %d columns: %q, want %q", w, got, want)
		}
	}
	s.Last.Round.Path, s.Last.Round.PathWhy = "fallback", "scores are changed by penalties"
	if got := strings.TrimSpace(ansi.Strip(pane.Lane(s, th, 60, 8, pane.LaneOptions{})[7])); got != "fallback: scores are changed by penalties" {
		t.Errorf("the fallback is not explained: %q", got)
	}
}

// With a fixed γ the heading says what is set. Why a round was given another γ must not be lost with it.
func TestTheLaneSaysWhatOverrulesAFixedGamma(t *testing.T) {
	th, _ := theme.Named("mono", true)
	for _, overruled := range []bool{true, false} {
		s := stateOf(statetest.Chat(24))
		s.Last.Round.GammaRule, s.Last.Round.GammaWhy, s.Last.Round.GammaOverruled = "fixed", "only 3 more tokens fit this reply", overruled
		if got := pane.Lane(s, th, 160, 8, pane.LaneOptions{})[7]; strings.Contains(got, "only 3 more tokens") != overruled {
			t.Errorf("overruled %v: the lane says %q", overruled, strings.TrimSpace(ansi.Strip(got)))
		}
	}
}

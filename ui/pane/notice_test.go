package pane_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/layout"
	"specula/ui/pane"
	"specula/ui/state/statetest"
	"specula/ui/theme"
)

// A message is shown in full above the prompt if and only if it does not fit into the status line.
func TestLongMessagesAreShownWhole(t *testing.T) {
	th, _ := theme.Named("dark", true)
	s := stateOf(statetest.Chat(24))
	if lines := pane.Notice(s, th, 80, "proposer ngram"); lines != nil {
		t.Errorf("a short message as %q", lines)
	}
	message := strings.Repeat("constraint.regex: a reply can have one form ", 4) + "and then it ends"
	lines := pane.Notice(s, th, 80, message)
	rects := layout.Arrange(80, 24, layout.Options{ComposerLines: 1})
	frame := strings.Split(pane.Compose(rects, th, pane.Parts{Over: lines}), "\n")
	shown := strings.Join(strings.Fields(ansi.Strip(strings.Join(frame[rects.Composer.Y-1-len(lines):rects.Composer.Y-1], " "))), " ")
	if shown != message {
		t.Errorf("drawn as %q", shown)
	}
	for _, line := range frame[rects.Composer.Y-1-len(lines) : rects.Composer.Y-1] {
		if w := ansi.StringWidth(line); w != 80 {
			t.Errorf("%d cells: %q", w, line)
		}
	}
}

func TestGuidanceIsOnScreenWithItsCost(t *testing.T) {
	th, _ := theme.Named("dark", true)
	events := statetest.Chat(24)
	for i, e := range events {
		if round, ok := e.(event.Round); ok {
			round.GuidanceScale = 1.5
			events[i] = round
		}
	}
	if lane := ansi.Strip(pane.Lane(stateOf(events), th, 80, 4, pane.LaneOptions{})[0]); !strings.Contains(lane, "guidance 1.5: ×2 rows") {
		t.Errorf("the lane's heading is %q", lane)
	}
}

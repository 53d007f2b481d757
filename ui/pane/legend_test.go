package pane_test

import (
	"strings"
	"testing"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state/statetest"
	"specula/ui/theme"
)

// In every window some legend shows the words for the fates in the looks that they have in the chat: in
// large ones the head, in small ones the heading of the rounds.
func TestALegendExplainsTheLooksOfTheChat(t *testing.T) {
	th, _ := theme.Named("dark", true)
	s := stateOf(statetest.Chat(24))
	for where, drawn := range map[string]string{
		"the head":   strings.Join(pane.Head(s, th, 120, 3), "\n"),
		"the rounds": pane.Picture(s, th, 80, 5)[0],
	} {
		for fate, word := range map[event.Verdict]string{
			event.Accepted: "kept", event.Rejected: "refused", event.Resampled: "instead", event.Bonus: "free", event.Plain: "no draft", "": "unchecked",
		} {
			if want := th.Fate(fate).On(word); !strings.Contains(drawn, want) {
				t.Errorf("%s has no %q:\n%s", where, want, drawn)
			}
		}
	}
	// In a narrow head the word «unchecked» is left out, and the other words of the legend stay.
	if got := words(strings.Join(pane.Head(s, th, 100, 3), " ")); !strings.Contains(got, "kept refused instead free no draft") || strings.Contains(got, "unchecked") {
		t.Errorf("a narrow head says %s", got)
	}
}

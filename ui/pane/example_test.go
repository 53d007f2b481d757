package pane_test

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/theme"
)

func ExampleLane() {
	th, _ := theme.Named("mono", true)
	lay := event.Token{Text: " lay", Verdict: event.Resampled}
	s := state.New()
	s.Apply(event.Round{Gamma: 3, Accepted: 1, Tested: 2, Commit: &lay, Draft: []event.Token{
		{Text: "The", Verdict: event.Accepted}, {Text: " sat", Verdict: event.Rejected}, {Text: " on", Verdict: event.Discarded},
	}})
	for _, line := range pane.Lane(s, th, 40, 2, pane.LaneOptions{}) {
		fmt.Println(strings.TrimRight(ansi.Strip(line), " "))
	}
	// Output:
	//   draft     The    ␣sat    ␣on
	//   verdict   ✓      ✗→␣lay  discarded
}

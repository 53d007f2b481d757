package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/engine/event"
	"specula/ui/state"
)

// stored reopens a chat of n numbered messages. long is how many of them, from the first on, begin
// with text.
func stored(s *state.State, n, long int, text string) {
	var turns []state.Turn
	for i := range n {
		if i >= long {
			text = ""
		}
		turns = append(turns, state.Turn{Role: []string{"user", "assistant"}[i%2], Raw: fmt.Sprint(text, i)})
	}
	s.Reopen(turns)
}

func TestALongChatKeepsEveryTurn(t *testing.T) {
	s := state.New()
	stored(s, 2600, 0, "")
	s.Apply(event.ReplyStarted{Reply: 1, Prompt: "2600"})
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "stop", Text: "2601"})
	turns := slices.Collect(s.Turns())
	if len(turns) != 2602 || s.Forgotten != 0 || len(s.Messages) > 2000 {
		t.Fatalf("%d turns, %d forgotten, %d messages on display", len(turns), s.Forgotten, len(s.Messages))
	}
	for i, turn := range turns {
		if turn.Raw != fmt.Sprint(i) || turn.Role != []string{"user", "assistant"}[i%2] {
			t.Fatalf("turn %d is %+v", i, turn)
		}
	}
	s.ClearChat()
	if turns := slices.Collect(s.Turns()); len(turns) != 0 {
		t.Errorf("a new chat begins with %d turns", len(turns))
	}
}

func TestAChatWithoutEndForgetsWholeExchanges(t *testing.T) {
	s := state.New()
	stored(s, 2101, 101, strings.Repeat("x", 1<<20)) // 101 long messages, and 2,000 short ones that stay on display
	turns := slices.Collect(s.Turns())
	total := 0
	for _, turn := range turns {
		total += len(turn.Raw)
	}
	if s.Forgotten == 0 || len(turns)+s.Forgotten != 2101 || total > 33<<20 || total < 29<<20 {
		t.Errorf("%d turns of %d bytes, %d forgotten", len(turns), total, s.Forgotten)
	}
	if turns[0].Role != "user" {
		t.Errorf("the conversation now begins with the %s", turns[0].Role)
	}
}

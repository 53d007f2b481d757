package audit_test

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"specula/engine/audit"
	"specula/engine/event"
)

// server answers every prompt with the same tokens, one in each round.
type server []string

func (s server) Reply(context.Context, string) iter.Seq[event.Event] {
	var events []event.Event
	end := event.ReplyEnded{}
	for i, text := range s {
		end.IDs = append(end.IDs, int32(text[0]))
		token := event.Token{ID: int32(text[0]), Raw: []byte(text), Verdict: event.Plain}
		token.LogProbs = []event.Candidate{{P: -0.5}, {P: -0.51}} // of the two best tokens
		events = append(events, event.Round{Index: i, Commit: &token})
	}
	return slices.Values(append(events, end))
}

// Two servers part at the third token, where the two best tokens of the plain side nearly tie.
func ExampleRun() {
	o := audit.Options{Prompts: []string{"Tell me a story."}}
	report, err := audit.Run(context.Background(), server{"once", " there", " lived"}, server{"once", " there", "."}, o, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range report.Divergences {
		fmt.Printf("token %d: %q and %q, margin %.2f\n", d.Token, d.Plain, d.Speculative, *d.Margin)
	}
	// Output: token 2: "." and " lived", margin 0.01
}

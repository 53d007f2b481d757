package exam_test

import (
	"context"
	"fmt"

	"specula/engine/exam"
	"specula/tokenizer/chat"
)

func ExampleTake() {
	paper, err := exam.Read("keys", "id: raise\nuser: How do I draft more tokens?\nmust: alt+↑|alt+up\nnot: i do not know\n\n"+
		"id: five\nuser: Count to five.\ncount: 5\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := func(_ context.Context, conversation []chat.Message) (string, error) {
		if conversation[len(conversation)-1].Content == "Count to five." {
			return "1 2 three 4", nil
		}
		return "Press Alt+Up.", nil
	}
	results, err := exam.Take(context.Background(), []exam.Paper{paper}, answer, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := results[0]
	fmt.Printf("%s: %d of %d right\n", r.Name, r.Right, r.Asked)
	for _, miss := range r.Misses {
		fmt.Printf("%s: %q\n", miss.ID, miss.Reply)
	}
	// Output:
	// keys: 1 of 2 right
	// five: "1 2 three 4"
}

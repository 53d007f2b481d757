package pair_test

import (
	"context"
	"fmt"

	"specula/engine/bench/pair"
	"specula/engine/exam"
	"specula/tokenizer/chat"
)

// A target without a draft takes an exam of one question, and misses the goal that is set for it.
func ExampleRun() {
	paper, err := exam.Read("counting", "id: three\nuser: Count to three.\ncount: 3\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	subject := pair.Subject{Answer: func(context.Context, []chat.Message) (string, error) { return "one three", nil }}
	report, err := pair.Run(context.Background(), subject,
		pair.Options{Papers: []exam.Paper{paper}, Goals: map[string]float64{"counting": 1}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range report.Goals {
		fmt.Printf("%s %v\n", g.Name, g)
	}
	// Output: counting missed: 0.000, wanted is at least 1
}

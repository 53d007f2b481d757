package agreement_test

import (
	"fmt"
	"strings"

	"specula/engine/agreement"
)

func ExampleRead() {
	file := `{"source": "small talk", "turns": [["user", "hello"], ["assistant", "Hi!"]]}
{"turns": [["user", "count to two"], ["assistant", "1 2"]]}`
	talks, err := agreement.Read(strings.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range talks {
		fmt.Printf("%q: %d turns, ends with %q\n", t.Source, len(t.Turns), t.Turns[len(t.Turns)-1].Content)
	}
	// Output:
	// "small talk": 2 turns, ends with "Hi!"
	// "": 2 turns, ends with "1 2"
}

package remote_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"specula/engine/remote"
	"specula/engine/remote/imitation"
)

// Connect finds out which engine answers, and what it can do.
func ExampleConnect() {
	engine := httptest.NewServer(&imitation.Server{
		Model: "small", Context: 40, Slots: 4,
		Scores:   func([]int32) []float32 { return []float32{0, 1, 2, 3} },
		Tokenize: func(string, bool) []int32 { return nil },
	})
	defer engine.Close()
	server, err := remote.Connect(context.Background(), remote.Options{URL: engine.URL, Limit: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	d := server.Describe()
	fmt.Printf("%s with %s: %d sequences of %d tokens; can score drafts: %v\n", d.Kind, d.Model, d.Slots, d.Context, d.Scores)
	// Output: llama-server with small: 4 sequences of 40 tokens; can score drafts: true
}

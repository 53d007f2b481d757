package engine_test

import (
	"context"
	"fmt"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
)

// A reply of the embedded pair, written speculatively.
func Example() {
	ctx := context.Background()
	backend := host.New(2)
	defer backend.Close()
	settings := config.Default()
	if err := settings.Set("temperature", "0"); err != nil {
		panic(err)
	}
	e, err := engine.Load(ctx, engine.Options{
		Config: settings, Backend: backend, Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Name: "target", Embedded: assets.Target()},
		Draft:  engine.Source{Name: "draft", Embedded: assets.Draft()},
	}, func(event.Event) {})
	if err != nil {
		panic(err)
	}
	s, err := e.NewSession(ctx)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	for ev := range s.Generate(ctx, engine.Request{Messages: []engine.Message{{Role: "user", Content: "hello"}}}) {
		if round, ok := ev.(event.Round); ok {
			for _, token := range round.Committed() {
				fmt.Print(token.Text)
			}
		}
	}
	// Output: Hello! How can I help you?
}

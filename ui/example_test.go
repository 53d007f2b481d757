package ui_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
)

// parrot is the smallest possible engine.
type parrot struct{ settings config.Config }

func (p *parrot) Settings() config.Config         { return p.settings }
func (p *parrot) Change(name, value string) error { return p.settings.Set(name, value) }
func (p *parrot) Close() error                    { return nil }
func (p *parrot) Generate(_ context.Context, r engine.Request) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		said := r.Messages[len(r.Messages)-1].Content
		_ = yield(event.ReplyStarted{Reply: 1, Prompt: said}) && yield(event.ReplyEnded{Reply: 1, Reason: "stop", Text: said})
	}
}

func ExampleRun() {
	settings := config.Default()
	err := ui.Run(context.Background(), ui.Options{
		Config: settings,
		Load: func(_ context.Context, emit func(event.Event)) (ui.Engine, error) {
			emit(event.Ready{Version: "example"})
			return &parrot{settings}, nil
		},
		Input:  strings.NewReader("\x04"), // ctrl+d
		Output: io.Discard,
	})
	fmt.Println(err)
	// Output: <nil>
}

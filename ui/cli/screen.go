package cli

import (
	"context"
	"errors"
	"path/filepath"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/chats"
	"specula/ui/compose"
)

// screen runs the full screen and records to a file, if one is named. A recording that fails does not disturb the chat: it is
// told at the end.
func (a *app) screen(ctx context.Context, c config.Config, recording string) error {
	t, err := a.newTracer(recording)
	if err != nil {
		return err
	}
	o := ui.Options{
		Config: c, Color: a.color, Now: a.Now,
		Chats: chats.NewStore(filepath.Join(a.Terminal.DataHome, "specula", "chats")),
		Load: func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) {
			return a.open(ctx, c, emit)
		},
	}
	if o.History, err = compose.OpenHistory(filepath.Join(a.Terminal.StateHome, "specula", "history.jsonl")); err != nil {
		o.Warning = err.Error()
	}
	var failed error
	if recording != "" {
		o.Record = func(e event.Event) { failed = t.put(e) }
	}
	return errors.Join(a.classify(a.Screen(ctx, o)), failed, t.close())
}

// screenOf plays a recording on the full screen.
func (a *app) screenOf(ctx context.Context, c config.Config, records []trace.Record) error {
	return a.classify(a.Screen(ctx, ui.Options{Config: c, Color: a.color, Now: a.Now, Replay: records}))
}

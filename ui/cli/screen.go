package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/chats"
	"specula/ui/compose"
)

// onScreen reports whether the terminal can show the screen. If it can, onScreen calls Program.Split, which may
// start the program again as a child. Then only the child returns from onScreen and shows the screen; the
// parent is its keeper, and the child stores the link to it.
func (a *invocation) onScreen() bool {
	t := a.Terminal
	if !t.StdinTTY || !t.StdoutTTY || t.Getenv("TERM") == "dumb" {
		return false
	}
	if a.Split != nil {
		a.keeper = a.Split()
	}
	return true
}

// screen runs the full screen, and records to a file if one is named. An error of the recording does not
// disturb the chat; it is returned after the chat.
func (a *invocation) screen(ctx context.Context, c config.Config, f chatFlags) error {
	t, err := a.newTracer(f.trace)
	if err != nil {
		return err
	}
	o := ui.Options{
		Config: c, Color: a.color, Now: a.Now, Keeper: a.keeper, Prompt: f.prompt,
		Load: func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) {
			return a.open(ctx, c, emit)
		},
		Reopen: a.open,
	}
	a.keep(&o)
	var failed error
	if f.trace.path != "" {
		o.Record = func(e event.Event) { failed = t.put(e) }
	}
	return errors.Join(a.classify(a.Screen(ctx, o)), failed, t.close())
}

// keep opens the folders for chats and history, unless the user wants neither saved. If a folder cannot be
// opened, what belongs there is not saved, and the user is warned.
func (a *invocation) keep(o *ui.Options) {
	if !o.Config.UI.Save {
		return
	}
	var lost []string
	if dir, err := ownFolder(a.Terminal.DataHome, "chats"); err != nil {
		lost = append(lost, "chats are not saved: "+err.Error())
	} else {
		o.Chats = chats.NewStore(dir)
	}
	dir, err := ownFolder(a.Terminal.StateHome, "")
	if err == nil {
		o.History, err = compose.OpenHistory(filepath.Join(dir, "history.jsonl"))
	}
	if err != nil {
		lost = append(lost, "prompts are not remembered: "+err.Error())
	}
	if len(lost) > 0 {
		o.Warning = strings.Join(lost, "; ")
		a.notes = append(a.notes, o.Warning) // shown again when the models are read, in case the user missed it
	}
}

// ownFolder makes this program's folder in a folder of the user, if it is missing, and returns its path.
func ownFolder(home, name string) (string, error) {
	if home == "" {
		return "", errors.New("HOME is not set")
	}
	dir := filepath.Join(home, "specula", name)
	return dir, os.MkdirAll(dir, 0o700)
}

// screenOf plays a recording on the full screen.
func (a *invocation) screenOf(ctx context.Context, c config.Config, records []trace.Record, f replayFlags) error {
	o := ui.Options{Config: c, Color: a.color, Now: a.Now, Keeper: a.keeper, Replay: records, ReplayAt: f.at, ReplayRound: f.round}
	return a.classify(a.Screen(ctx, o))
}

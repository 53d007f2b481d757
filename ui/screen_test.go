package ui

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/chats"
	"specula/ui/dialog"
)

// screen drives a Model without Bubble Tea: it presses keys, runs commands to their end, and waits for
// replies.
type screen struct {
	t      *testing.T
	m      *Model
	engine *scripted
	said   []string // what commands copied to the clipboard or asked of Bubble Tea
	quit   bool
}

// open returns a screen of 120×36 with a scripted engine that is ready, at full speed.
func open(t *testing.T, change func(*Options)) *screen {
	t.Helper()
	c := config.Default()
	c.UI.Pace, c.UI.Theme = "full", "dark"
	engine := newScripted(c, 12)
	o := Options{
		Config: c, Environ: []string{"TERM=xterm-256color"}, Tag: 1,
		Now:    func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Chats:  chats.NewStore(filepath.Join(t.TempDir(), "chats")),
		Folder: t.TempDir(),
		Load: func(_ context.Context, emit func(event.Event)) (Engine, error) {
			emit(engine.ready())
			return engine, nil
		},
	}
	if change != nil {
		change(&o)
	}
	o.tick = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	o.complete()
	s := &screen{t: t, m: newModel(t.Context(), o, &guard{}), engine: engine}
	t.Cleanup(func() { s.m.stop(); s.m.guard.running.Wait() })
	s.m.Init()
	s.m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	s.settle()
	return s
}

// settle waits for all goroutines and shows their events.
func (s *screen) settle() {
	s.m.guard.running.Wait()
	s.show()
}

// show applies the events in the ring.
func (s *screen) show() {
	s.update(frameMsg{})
}

func (s *screen) update(msg tea.Msg) {
	if _, frame := msg.(frameMsg); frame { // its command waits for the next frame; tests call show instead
		s.m.stale = true
		s.do(s.m.take())
		return
	}
	_, cmd := s.m.Update(msg)
	s.do(cmd)
}

// do runs a command to its end.
func (s *screen) do(cmd tea.Cmd) { each(cmd, s.told) }

// told takes what a command said. Messages of the terminal's are only kept.
func (s *screen) told(msg tea.Msg) {
	switch msg.(type) {
	case tea.QuitMsg:
		s.quit = true
	case noteMsg, formSet, chatList, scriptRead, opened, notSaved, renamed, dialog.Chosen:
		s.update(msg)
	default:
		s.said = append(s.said, fmt.Sprint(msg))
	}
}

var keyNames = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: ' ', Text: " "},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"f1": {Code: tea.KeyF1}, "f2": {Code: tea.KeyF2}, "f3": {Code: tea.KeyF3}, "f4": {Code: tea.KeyF4}, "f5": {Code: tea.KeyF5},
	"f6": {Code: tea.KeyF6}, "f7": {Code: tea.KeyF7}, "f8": {Code: tea.KeyF8}, "f9": {Code: tea.KeyF9}, "f12": {Code: tea.KeyF12},
}

// key spells a key press: "enter", "ctrl+c", "alt+up", "x".
func key(name string) tea.KeyPressMsg {
	mod := tea.KeyMod(0)
	for prefix, m := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			mod, name = m, rest
		}
	}
	k, ok := keyNames[name]
	if !ok {
		r := []rune(name)[0]
		k = tea.KeyPressMsg{Code: r, Text: name}
	}
	if mod != 0 {
		k.Mod, k.Text = mod, ""
	}
	return k
}

// press presses keys, separated by spaces.
func (s *screen) press(names string) {
	for _, n := range strings.Fields(names) {
		s.update(key(n))
	}
}

// ask types a line, sends it and waits until all is done.
func (s *screen) ask(line string) {
	s.begin(line)
	s.settle()
}

// begin types a line and sends it, without waiting.
func (s *screen) begin(line string) {
	for _, r := range line {
		s.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.press("enter")
}

func (s *screen) text() string { return ansi.Strip(s.m.View().Content) }

func (s *screen) mustShow(text string) {
	s.t.Helper()
	if !strings.Contains(s.text(), text) {
		s.t.Fatalf("the screen does not show %q:\n%s", text, s.text())
	}
}

func (s *screen) mustNotShow(text string) {
	s.t.Helper()
	if strings.Contains(s.text(), text) {
		s.t.Fatalf("the screen shows %q:\n%s", text, s.text())
	}
}

package ui

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
	"specula/ui/demo"
)

// tourist is a screen whose clock the test moves.
type tourist struct {
	*screen
	now time.Time
}

func openTour(t *testing.T, text string, change func(*Options)) *tourist {
	t.Helper()
	u := &tourist{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	u.screen = open(t, func(o *Options) {
		o.Now = func() time.Time { return u.now }
		if change != nil {
			change(o)
		}
	})
	if text != "" {
		s, err := demo.Parse("talk.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		u.do(u.m.startTour(s, false))
		u.settle()
	}
	return u
}

// later lets time pass, and gives the screen the tick that it asked for.
func (u *tourist) later(d time.Duration) {
	u.now = u.now.Add(d)
	if u.m.tour != nil {
		u.update(tourTick{u.m.tour.tick})
	}
	u.settle()
}

const talk = `
scene Guessing
say "A small model guesses."
set gamma=2 temperature=0
pace full
ask What is a draft?
wait 5s
scene Longer
say "Now a longer draft."
set gamma=7
show rounds
ask And a long one?
wait key
`

// A script plays in a chat of its own. After it everything is as before: chat, settings, prompt.
func TestAScriptGivesBackWhatTheUserHad(t *testing.T) {
	u := openTour(t, "", nil)
	u.ask("/temp 0.9")
	u.ask("/rule windowed")
	u.ask("my own question")
	u.press("alt+t f4 d r a f t")
	before, chat := u.engine.Settings(), u.m.chat.ID
	s, err := demo.Parse("talk.txt", talk)
	if err != nil {
		t.Fatal(err)
	}
	u.do(u.m.startTour(s, false))
	u.settle()
	for _, text := range []string{"A small model guesses.", "Guessing", "scene 1 of 2", "What is a draft?", "← → scene  space pause  esc ends"} {
		u.mustShow(text)
	}
	u.mustNotShow("my own question")
	if c := u.engine.Settings(); c.Speculation.Gamma != 2 || c.Speculation.Rule != "fixed" || c.Sampling.Temperature != 0 {
		t.Errorf("the scene has γ %d, rule %s, temperature %g", c.Speculation.Gamma, c.Speculation.Rule, c.Sampling.Temperature)
	}
	u.later(5 * time.Second)
	u.mustShow("Now a longer draft.")
	u.mustShow("space goes on")
	u.mustNotShow("What is a draft?")
	if c := u.engine.Settings(); c.Speculation.Gamma != 7 || c.Sampling.Temperature != 0.9 {
		t.Errorf("the second scene has γ %d, temperature %g: it begins with the user's settings", c.Speculation.Gamma, c.Sampling.Temperature)
	}
	u.press("space")
	u.settle()
	u.mustShow("the tour is over")
	u.mustShow("my own question")
	u.mustShow("▸ draft")
	if after := u.engine.Settings(); !reflect.DeepEqual(after, before) {
		t.Errorf("the settings were %+v and are %+v", before, after)
	}
	if !u.m.tradeoff {
		t.Error("the trade-off that the user had chosen is not back")
	}
	if u.m.chat.ID != chat || u.m.options.Chats == nil || u.m.config.UI.Pace != "full" {
		t.Error("the user's chat, its folder or the pace are not back")
	}
	list, _, err := u.m.options.Chats.List()
	if err != nil || len(list) != 1 || list[0].Title != "my own question" {
		t.Errorf("saved are %v, %v; want the user's chat only", list, err)
	}
}

// A scene can be left in mid-reply, and the script in mid-race.
func TestAScriptCanBeLeftAtAnyTime(t *testing.T) {
	for _, k := range []string{"esc", "q", "ctrl+c"} {
		u := openTour(t, "", nil)
		u.engine.hangAt, u.engine.hang = 2, make(chan struct{})
		s, _ := demo.Parse("talk.txt", talk)
		u.do(u.m.startTour(s, false))
		u.until("the second round", func() bool { return u.m.state.Last != nil })
		u.press(k)
		close(u.engine.hang)
		u.settle()
		u.mustShow("the tour was left")
		u.mustShow("Ask something")
		if u.m.tour != nil || u.m.busy() || u.m.settings().Speculation.Gamma != 4 {
			t.Errorf("%s: the script still plays, or its settings stay", k)
		}
	}
}

// A script may leave a setting so that the user's value of another one is refused until the first is restored.
func TestAScriptGivesBackSettingsThatBoundEachOther(t *testing.T) {
	u := openTour(t, "scene Low\nset window-low=0.05 window-high=0.1\nwait 5s", nil)
	if s := u.m.settings().Speculation; s.WindowHigh != 0.1 {
		t.Fatalf("the script set %g", s.WindowHigh)
	}
	u.press("q")
	u.settle()
	if s := u.m.settings().Speculation; s.WindowLow != 0.4 || s.WindowHigh != 0.8 {
		t.Errorf("after the script the bounds are %g and %g", s.WindowLow, s.WindowHigh)
	}
}

func TestScenesByKey(t *testing.T) {
	u := openTour(t, talk, nil)
	u.press("right")
	u.settle()
	u.mustShow("scene 2 of 2")
	u.mustShow("And a long one?")
	u.press("left")
	u.settle()
	u.mustShow("scene 1 of 2")
	u.press("space")
	u.mustShow("paused: space goes on")
	u.later(time.Hour)
	u.mustShow("scene 1 of 2")
	u.press("space")
	u.later(5 * time.Second)
	u.mustShow("scene 2 of 2")
	u.press("x y z") // nothing is typed
	if got := u.m.composer.Value(); got != "" {
		t.Errorf("%q was typed into the prompt", got)
	}
	u.press("alt+up") // the engine's keys work
	if got := u.m.settings().Speculation.Gamma; got != 8 {
		t.Errorf("γ is %d after alt+up", got)
	}
}

// A race is shown with the caption below it, at every size.
func TestARaceInAScript(t *testing.T) {
	r := &racer{outcome: event.RaceOutcome{Compared: true, Same: true, Why: "because"}}
	u := openTour(t, "say \"Watch the blocks.\"\nask hello\nrace\nsay \"The same text.\"\nwait 5s\nask again\nwait key", func(o *Options) {
		load := o.Load
		o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
			e, err := load(ctx, emit)
			r.scripted = e.(*scripted)
			return r, err
		}
	})
	u.settle()
	for _, size := range [][2]int{{80, 24}, {48, 12}, {120, 36}, {200, 50}} {
		u.m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		u.mustShow("Race hello")
		u.mustShow("The same text.")
		u.mustShow("scene 1 of 1")
		if n := strings.Count(u.text(), "\n") + 1; n != size[1] {
			t.Errorf("%v: %d lines", size, n)
		}
	}
	u.later(5 * time.Second)
	u.mustNotShow("Race hello")
	u.mustShow("again")
	u.press("esc")
	u.settle()
	u.mustShow("the tour was left")
}

// A race without a prompt before it takes an example; nothing invites to type while a script plays.
func TestAScriptThatOnlyRaces(t *testing.T) {
	u := openTour(t, "wait 2s\nrace gamma=2 vs gamma=3\nwait key", nil)
	u.mustNotShow("Press tab")
	u.later(2 * time.Second)
	u.mustShow("this engine cannot race")
	u.mustShow("space goes on")
}

func TestDemoIsStartedByKeyCommandAndFlag(t *testing.T) {
	u := openTour(t, "", nil)
	u.press("alt+e")
	u.mustShow("scene 1 of ")
	u.press("esc")
	u.settle()

	t.Chdir(t.TempDir())
	if err := os.WriteFile("talk.txt", []byte(talk), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bad.txt", []byte("ask x\njump\nhop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.ask("/demo talk.txt")
	u.mustShow("A small model guesses.")
	u.press("esc")
	u.settle()
	u.ask("/demo bad.txt")
	u.mustRead(`bad.txt:2: got "jump"`)
	u.mustRead("specula demo --check shows all mistakes")
	u.ask("/demo nothing.txt")
	u.mustShow("nothing.txt")

	s, _ := demo.Parse("talk.txt", talk)
	u = openTour(t, "", func(o *Options) { o.Demo = s })
	u.settle()
	u.mustShow("A small model guesses.")
}

// A script's texts cannot write to the terminal.
func TestHostileCaptions(t *testing.T) {
	u := openTour(t, "scene evil\x1b[2J\nsay \"\\x1b]0;owned\\x07 \\u202etext\"\nwait key", nil)
	for _, bad := range []string{"\x1b]", "\x1b[2J", "\u202e"} {
		if strings.Contains(u.m.View().Content, bad) {
			t.Errorf("the screen has %q", bad)
		}
	}
}

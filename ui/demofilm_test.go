package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/demo"
	"specula/ui/export/film"
)

// demoFilm plays a script with the scripted engine, which can race.
func demoFilm(t *testing.T, text string) ([]film.Frame, *racer, error) {
	t.Helper()
	s, err := demo.Parse("talk.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	c := filmSettings("full")
	r := &racer{scripted: newScripted(c, 12), outcome: event.RaceOutcome{Compared: true, Same: true, Why: "because"}}
	f, err := DemoFilm(t.Context(), Options{Config: c, Demo: s, Load: func(_ context.Context, emit func(event.Event)) (Engine, error) {
		emit(r.ready())
		return r, nil
	}}, 100, 30)
	return slices.Collect(f.Frames), r, err
}

// from returns the time of the first frame that shows a text.
func from(t *testing.T, frames []film.Frame, text string) time.Duration {
	t.Helper()
	for _, f := range frames {
		if strings.Contains(ansi.Strip(f.Screen), text) {
			return f.At
		}
	}
	t.Fatalf("no frame shows %q", text)
	return 0
}

// The times in the film follow from the script and the pace. Making the film takes less: nothing waits.
func TestAFilmOfAScriptHasTheScriptsTimes(t *testing.T) {
	frames, r, err := demoFilm(t, `
scene Guessing
say "A small model guesses."
pace slow 2
set gamma=2
ask What is a draft?
say "It was written."
wait 5s
scene Racing
say "Two lanes."
pace slow 3
race
say "The same text."
wait key
`)
	if err != nil {
		t.Fatal(err)
	}
	if !r.scripted.closed {
		t.Error("the engine was not closed")
	}
	// Twelve rounds, one of which measures a plain pass and takes a third.
	if got, want := from(t, frames, "It was written."), 11*time.Second/2+time.Second/6; (got - want).Abs() > time.Millisecond {
		t.Errorf("the reply ends at %v, want %v", got, want)
	}
	first, race, same := from(t, frames, "It was written."), from(t, frames, "Two lanes."), from(t, frames, "The same text.")
	if race-first != 5*time.Second {
		t.Errorf("the next scene comes after %v, want 5s", race-first)
	}
	if want := 13 * time.Second / 9; (same - race - want).Abs() > time.Millisecond {
		t.Errorf("the race takes %v, want %v", same-race, want) // 6 and 7 rounds of a third of the pace's time
	}
	var marks []string
	for i, f := range frames {
		if f.Mark != "" {
			marks = append(marks, f.Mark)
		}
		if i > 0 && f.At-frames[i-1].At < filmFrameTime && f.Mark == "" {
			t.Errorf("a frame at %v comes %v after the one before", f.At, f.At-frames[i-1].At)
		}
		if strings.Contains(f.Screen, "tour is over") {
			t.Error("the film shows what comes after the script")
		}
	}
	if !slices.Equal(marks, []string{"Guessing", "Racing"}) {
		t.Errorf("the marks are %q", marks)
	}
}

// At pace full, a reply and a lane of a race take the time of their rounds: each draft counts once.
func TestAFilmAtFullPaceTakesTheTimeOfTheRounds(t *testing.T) {
	c := config.Default()
	for name, shown := range map[string]func(event.Event) event.Event{
		"a reply": func(e event.Event) event.Event { return e },
		"a lane":  func(e event.Event) event.Event { return raced{event: e} },
	} {
		var got, want time.Duration
		for e := range newScripted(c, 12).Generate(t.Context(), engine.Request{Messages: []engine.Message{{Role: "user", Content: "hello"}}}) {
			got += measured(shown(e))
			if r, is := e.(event.Round); is {
				want += time.Duration(r.MS() * float64(time.Millisecond))
			}
		}
		if (got-want).Abs() > time.Microsecond || want == 0 {
			t.Errorf("%s takes %v, want %v", name, got, want)
		}
	}
}

// A script's steps make the reply go on in a film, as they do on the screen.
func TestAFilmMakesSteps(t *testing.T) {
	frames, _, err := demoFilm(t, "pace step\nset gamma=3\nask hello\nsay \"Nobody knows yet.\"\nwait 2s\nstep\nsay \"Now we know.\"\nwait 2s\npace slow 2\nsay \"On.\"\nwait 1s")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		text := ansi.Strip(f.Screen)
		if strings.Contains(text, "Nobody knows yet.") && strings.Contains(text, "lets a small model") {
			t.Errorf("the first round is committed at %v, before its step", f.At)
		}
	}
	if a, b := from(t, frames, "Nobody knows yet."), from(t, frames, "Now we know."); b-a < 2*time.Second {
		t.Errorf("the step comes %v after the caption", b-a)
	}
}

// A script's text cannot write escape sequences into a film, and a film always ends.
func TestAFilmOfAScriptIsSafeAndBounded(t *testing.T) {
	frames, _, err := demoFilm(t, "scene evil\x1b[2J\nsay \"\\x1b]0;owned\\x07 \\u202etext <script>\"\nask <script>alert(1)</script>\nwait 1s")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		for _, bad := range []string{"\x1b]", "\x1b[2J", "\u202e"} {
			if strings.Contains(f.Screen+f.Mark, bad) {
				t.Fatalf("a frame has %q", bad)
			}
		}
	}
	var svg strings.Builder
	if err := (film.Film{W: 100, H: 30, Frames: slices.Values(frames)}).Animation(&svg); err != nil || strings.Contains(svg.String(), "<script>") {
		t.Errorf("the animation has a script, or failed: %v", err)
	}
	if _, _, err = demoFilm(t, "ask x\nwait 16m\nsay \"y\"\nwait 1s"); err == nil || !strings.Contains(err.Error(), "shorten the script") {
		t.Errorf("a film of 16 minutes: %v", err)
	}
}

func TestAFilmTellsWhyTheEngineDidNotOpen(t *testing.T) {
	want := errors.New("no such model")
	_, err := DemoFilm(t.Context(), Options{Config: filmSettings("full"), Demo: demo.Tour(), Load: func(context.Context, func(event.Event)) (Engine, error) { return nil, want }}, 80, 24)
	if !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

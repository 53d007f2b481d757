package ui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"specula/engine/event"
	"specula/ui/export/film"
	"specula/ui/pace"
	"specula/ui/sanitize"
)

// The limits and times of a film of a demo script. Its size is limited because a browser reads all of it
// before it shows anything.
const (
	filmFrames     = 20_000           // most frames
	filmBytes      = 64 << 20         // most bytes of all frames together, as sent to a terminal
	filmTime       = 15 * time.Minute // longest film
	filmFrameTime  = time.Second / 30 // a frame that comes sooner after the last one replaces it (take)
	filmKey        = 3 * time.Second  // how long a film stands still where the script waits for a key
	filmTooLongFix = "shorten the script, or make the window smaller"
)

// DemoFilm plays o.Demo with the engine of o.Load, and returns what the screen has shown as a film of
// w × h cells. A Model draws the frames, with a clock that jumps: waits and paces take no real time. At
// pace full, a round takes as long in the film as it took the engine. The engine is closed at the end.
func DemoFilm(ctx context.Context, o Options, w, h int) (film.Film, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &studio{scene: -1}
	o.perform = s.perform
	s.projector = newProjector(ctx, o, w, h, s.take)
	err := s.shoot(ctx)
	cancel()
	if s.stop != nil {
		s.stop()
	}
	if s.m.engine != nil {
		err = errors.Join(err, s.m.engine.Close())
	}
	return film.Film{Title: sanitize.Line(o.Demo.Name), W: w, H: h, Light: !s.m.dark, Frames: slices.Values(s.frames)}, err
}

// studio plays a demo script on a Model. It takes the events of replies and races one by one.
type studio struct {
	*projector
	frames []film.Frame
	bytes  int
	scene  int // number of the last scene that has a mark in the film; -1: none has
	err    error

	// The reply or race that is being shown. next returns its next event, and is nil if nothing is shown.
	// stop ends the iteration over its events. over makes the event that follows the last of them: that the
	// reply or race has ended.
	ctx  context.Context
	next func() (event.Event, bool)
	stop func()
	over func() event.Event
}

func (s *studio) perform(ctx context.Context, events iter.Seq[event.Event], over func() event.Event) {
	s.ctx, s.over = ctx, over
	s.next, s.stop = iter.Pull(events)
}

// shoot plays the script to its end.
func (s *studio) shoot(ctx context.Context) error {
	s.m.load()
	s.run(s.m.take())
	if s.m.failure != nil {
		return s.m.failure
	}
	s.frame("")
	for s.err == nil && !s.ended && s.m.tour != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch key, _ := s.m.tour.player.Waits(); {
		case s.next != nil:
			s.show()
		case key:
			s.wait(filmKey)
			s.m.tour.player.Press(s.m.options.Now())
			s.run(s.m.advance())
			s.frame("")
		case len(s.timers) > 0:
			s.jump()
		default:
			return fmt.Errorf("the script stands still after %v", s.clock)
		}
	}
	return s.err
}

// show shows the next event of a reply or a race, for as long as the pace asks.
func (s *studio) show() {
	e, ok := s.next()
	if !ok {
		e, s.next = s.over(), nil
	}
	s.run(s.m.apply(e))
	if s.m.tour != nil {
		s.run(s.m.advance())
	}
	s.frame("")
	switch mode, rounds := s.m.pacer.Mode(); mode {
	case pace.Slow:
		s.wait(pace.Hold(e, rounds))
	case pace.Full:
		s.wait(measured(e))
	case pace.Step:
		s.waitForStep(e)
	}
}

// waitForStep lets time pass until the script makes a step or sets a pace other than step. It also returns when
// the film ends, when the reply is cancelled or no timer is left, and at once after an event that no pace holds
// back.
func (s *studio) waitForStep(e event.Event) {
	for pace.Hold(e, 1) > 0 && !s.ended && s.ctx.Err() == nil && len(s.timers) > 0 {
		if mode, _ := s.m.pacer.Mode(); mode != pace.Step || s.m.pacer.Take() {
			return
		}
		s.jump()
	}
}

// jump lets time pass until the next timer.
func (s *studio) jump() { s.wait(s.timers[s.nextTimer()].at - s.clock) }

// measured returns the time that the engine took for the work that an event reports.
func measured(e event.Event) time.Duration {
	if r, is := e.(raced); is {
		e = r.event
	}
	ms := 0.0
	switch e := e.(type) {
	case event.Drafted:
		ms = e.DraftMS
	case event.Round:
		if ms = e.MS(); len(e.Draft) > 0 {
			ms -= e.DraftMS // event.Drafted came before, and took that time
		}
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// take adds a frame to the film. If the last frame is less than filmFrameTime old, the new frame replaces
// it, unless the new frame begins a scene. take returns false after the script's end, and once the film
// exceeds a limit.
func (s *studio) take(f film.Frame) bool {
	if s.m.tour == nil || s.err != nil {
		return false
	}
	if n, _, title := s.m.tour.player.Scene(); n != s.scene {
		s.scene, f.Mark = n, sanitize.Line(title)
	}
	last := len(s.frames) - 1
	if last >= 0 && f.Mark == "" && f.At-s.frames[last].At < filmFrameTime {
		s.bytes += len(f.Screen) - len(s.frames[last].Screen)
		s.frames[last].Screen = f.Screen
	} else {
		s.frames = append(s.frames, f)
		s.bytes += len(f.Screen)
	}
	if len(s.frames) > filmFrames || s.bytes > filmBytes || f.At > filmTime {
		s.err = fmt.Errorf("the film has %d frames of %d MB after %v; allowed are %d, %d MB and %v: %s", len(s.frames), s.bytes>>20, f.At.Round(time.Second),
			filmFrames, filmBytes>>20, filmTime, filmTooLongFix)
	}
	return s.err == nil
}

package ui

import (
	"context"
	"iter"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/export/film"
	"specula/ui/pace"
)

// Times that a film adds to those of the recording.
const (
	filmBegins = 800 * time.Millisecond // how long a prompt is shown before the first draft
	filmEnds   = 3 * time.Second        // how long the last frame stays
)

// Film returns a recording as a film of the screen, w × h cells, at the pace of the settings c. A Model
// draws the frames, with a clock that jumps. The pace step is shown as slow.
func Film(records []trace.Record, c config.Config, w, h int) film.Film {
	frames := func(yield func(film.Frame) bool) {
		engine := &filmed{c}
		p := newProjector(context.Background(), Options{
			Config: c,
			// With Load set, the screen looks like a chat, not like a replay.
			Load: func(context.Context, func(event.Event)) (Engine, error) { return engine, nil },
		}, w, h, yield)
		p.engine, p.m.engine = engine, engine
		for _, r := range records {
			if !p.play(r) {
				return
			}
		}
		p.wait(filmEnds)
		p.yield(film.Frame{At: p.clock, Screen: p.m.View().Content})
	}
	light := c.UI.Theme == "light"
	return film.Film{W: w, H: h, Light: light, Frames: frames}
}

// projector drives a Model with a clock that jumps: it stands still except in wait, which moves it on
// without waiting.
type projector struct {
	m      *Model
	engine *filmed
	yield  func(film.Frame) bool
	ended  bool
	clock  time.Duration
	last   float64 // time of the last record, in ms
	shown  string  // what the last frame shows
	marked int     // number of rounds of this reply that have a mark in the film
	timers []timer
}

type timer struct {
	at  time.Duration
	msg tea.Msg
}

func newProjector(ctx context.Context, o Options, w, h int, yield func(film.Frame) bool) *projector {
	p := &projector{yield: yield}
	o.Color, o.Environ = "always", []string{}
	o.Now = func() time.Time { return time.Time{}.Add(p.clock) }
	o.tick = func(d time.Duration, f func(time.Time) tea.Msg) tea.Cmd {
		p.timers = append(p.timers, timer{p.clock + d, f(time.Time{})})
		return nil
	}
	o.complete()
	p.m = newModel(ctx, o, &guard{})
	p.m.dark = o.Config.UI.Theme != "light"
	p.m.applyTheme()
	p.update(tea.WindowSizeMsg{Width: w, Height: h})
	return p
}

// play shows a record. It returns false if no more frames are wanted.
func (p *projector) play(r trace.Record) bool {
	mode, rounds := p.m.pacer.Mode()
	if mode == pace.Full {
		p.wait(min(time.Duration((r.AtMS-p.last)*float64(time.Millisecond)), longestGap))
	}
	p.last = r.AtMS
	p.engine.follow(r.Event)
	if !p.frame(p.apply(r.Event)) {
		return false
	}
	if mode != pace.Full {
		p.wait(pace.Hold(r.Event, rounds))
	}
	if _, ok := r.Event.(event.ReplyStarted); ok {
		p.wait(filmBegins)
	}
	return true
}

// apply applies an event as the screen does. It returns the name of the mark that the film gets here,
// or "".
func (p *projector) apply(e event.Event) (mark string) {
	switch e := e.(type) {
	case event.Ready:
		p.run(p.m.apply(loaded{engine: p.engine, ready: &e}))
	case event.ReplyStarted:
		p.m.reply, p.marked = reply{stop: func() {}}, 0
		p.run(p.m.apply(e))
		return "prompt"
	case event.ReplyEnded:
		p.run(p.m.apply(e))
		p.run(p.m.apply(replyOver{}))
	case event.Drafted:
		p.run(p.m.apply(e))
		return p.roundMark(e.Round)
	case event.Round:
		p.run(p.m.apply(e))
		return p.roundMark(e.Index)
	default:
		p.run(p.m.apply(e))
	}
	return ""
}

// roundMark names a round when it is shown for the first time; later it returns "".
func (p *projector) roundMark(index int) string {
	if index < p.marked {
		return ""
	}
	p.marked = index + 1
	return "round " + count(index+1)
}

// frame yields the screen as a frame if it has changed or gets a mark. It returns false if no more frames
// are wanted.
func (p *projector) frame(mark string) bool {
	p.m.stale = true
	screen := p.m.View().Content
	if screen == p.shown && mark == "" {
		return !p.ended
	}
	p.shown = screen
	p.ended = p.ended || !p.yield(film.Frame{At: p.clock, Screen: screen, Mark: mark})
	return !p.ended
}

// wait lets time pass, and delivers the messages that become due.
func (p *projector) wait(d time.Duration) {
	end := p.clock + max(d, 0)
	for len(p.timers) > 0 {
		next := p.nextTimer()
		due := p.timers[next]
		if due.at > end {
			break
		}
		p.timers = slices.Delete(p.timers, next, next+1)
		p.clock = max(p.clock, due.at)
		p.update(due.msg)
		if !p.frame("") {
			return
		}
	}
	p.clock = end
}

// nextTimer returns the index of the timer that is due first.
func (p *projector) nextTimer() int {
	next := 0
	for i, t := range p.timers {
		if t.at < p.timers[next].at {
			next = i
		}
	}
	return next
}

func (p *projector) update(msg tea.Msg) {
	_, cmd := p.m.Update(msg)
	p.run(cmd)
}

// run runs a command, and gives the Model the messages that the command returns.
func (p *projector) run(cmd tea.Cmd) { each(cmd, p.update) }

// each runs a command, or the commands of a batch in order, and calls tell with each message before it
// runs the next command.
func each(cmd tea.Cmd, tell func(tea.Msg)) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			each(c, tell)
		}
	default:
		tell(msg)
	}
}

// filmed takes the place of the engine in a film: it has the settings that the events report, and writes
// no replies.
type filmed struct{ config config.Config }

func (f *filmed) follow(e event.Event) {
	switch e := e.(type) {
	case event.ReplyStarted:
		c := config.Default()
		c.UI = f.config.UI
		var values []config.Value
		for name, value := range e.Config {
			if _, known := config.Lookup(name); known { // another version may have had more settings
				values = append(values, config.Value{Name: name, Text: value})
			}
		}
		_ = c.SetAll(values...) // on an error the film shows the defaults until events report settings
		f.config = c
	case event.SettingChanged:
		_ = f.config.Set(e.Name, e.To)
	}
}

func (f *filmed) Generate(context.Context, engine.Request) iter.Seq[event.Event] {
	return func(func(event.Event) bool) {}
}
func (f *filmed) Change(string, string) error { return nil }
func (f *filmed) Settings() config.Config     { return f.config }
func (f *filmed) Close() error                { return nil }

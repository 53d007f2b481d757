// Package ui is the screen: one Bubble Tea model that turns keys into requests to the engine, and
// events into frames.
//
// An event passes through:
//
//	engine goroutine   Engine.Generate → pace.Pacer (may delay it) → stream.Ring (never blocks)
//	Bubble Tea         stream.Pump, at most thirty frames a second → Model.Update → state.State → View
//
// What is drawn of replies is a function of the state, and the state is a function of the events.
// So a recording, played by the same model without an engine, draws the same frames as the live run.
//
// Model and rest, which wraps it, are the only tea.Models. Model draws with values and functions of other
// packages: state (the reducer), transcript and pane (the panes), layout (rectangles), theme, compose
// (the prompt), dialog (help, saved chats). Update never waits for the engine. It touches two files
// itself: it appends to the history of prompts, and it opens and closes the file of /record.
// Commands and guarded goroutines do everything else that takes time.
package ui

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/chats"
	"specula/ui/compose"
	"specula/ui/demo"
	"specula/ui/keeper"
)

// Engine is what the screen needs from the engine. The screen never calls Generate while another
// Generate runs. Change and Settings may be called while it runs.
type Engine interface {
	// Generate writes one reply. The sequence ends with event.ReplyEnded, even if ctx ends.
	Generate(ctx context.Context, r engine.Request) iter.Seq[event.Event]
	// Change asks for a setting to change from the next round on, or later if it can only change
	// between replies.
	Change(name, value string) error
	// Settings returns the settings with all changes, also those that are not in force yet.
	Settings() config.Config
	Close() error
}

// Options configure the screen.
type Options struct {
	Config config.Config
	Color  string // auto, always, never

	// Load opens the engine and emits events about its progress. It runs in the background. It is
	// nil in a replay.
	Load func(ctx context.Context, emit func(event.Event)) (Engine, error)
	// Reopen opens a second engine, with the settings c, while the first one is still open. It is called in
	// the background. If it is nil, the target cannot be changed.
	Reopen func(ctx context.Context, c config.Config, emit func(event.Event)) (Engine, error)
	// Replay is a recording to play instead of an engine.
	Replay []trace.Record
	// ReplayAt and ReplayRound say where the replay begins: after a time, or after the first round with this
	// number, counted from 1 in each reply. Everything before is shown at once.
	ReplayAt    time.Duration
	ReplayRound int
	// Record, if not nil, is called with every event of loading and of replies, on the goroutine that gets
	// it. Events of a race go to RaceStart.Record.
	Record func(event.Event)

	// Prompt, if not "", is sent as soon as the engine is there, unless the user has changed it or taken it
	// back.
	Prompt string

	// Demo, if not nil, is played as soon as the engine is there; with Loop, again and again.
	Demo *demo.Script
	Loop bool

	// Race, if not nil, is run instead of a chat.
	Race *RaceStart

	Chats   *chats.Store     // where chats are saved; nil: they are not
	History *compose.History // of prompts; nil: an empty one
	Warning string           // shown once at the start
	Folder  string           // where files with a relative name are written; "": the working directory

	// Keeper restores the terminal if this process cannot. It may be nil.
	Keeper *keeper.Link

	// The program's surroundings. Zero values mean those of the process.
	Input          io.Reader
	Output, Stderr io.Writer
	Environ        []string
	Now            func() time.Time
	Tag            uint32 // a part of each chat's ID, so that processes do not use the same ID in one second

	// perform, if not nil, shows the events of a reply or a race in place of the pacer. A film sets it.
	perform func(ctx context.Context, events iter.Seq[event.Event], over func() event.Event)

	// Only tests and films set these.
	grace    time.Duration // default: graceTime
	stopTime time.Duration // default: the constant stopTime
	tick     func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

func (o *Options) complete() {
	if o.History == nil {
		o.History = &compose.History{}
	}
	if o.Input == nil {
		o.Input = os.Stdin
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.tick == nil {
		o.tick = tea.Tick
	}
	if o.grace == 0 {
		o.grace = graceTime
	}
	if o.stopTime == 0 {
		o.stopTime = stopTime
	}
	if o.Tag == 0 {
		o.Tag = uint32(os.Getpid())
	}
}

// SignalError says that a signal ended the program. The chat was saved and the terminal restored
// before, unless the program did not answer (see Run).
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.Signal) }

// PanicError says that a goroutine of the program panicked. Its stack has been written to stderr.
type PanicError struct {
	Where string
	Value any
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error in %s: %v", e.Where, e.Value) }

// Package ui is the screen: one Bubble Tea model that turns keys into requests to the engine and events into frames.
//
// The way of an event:
//
//	engine goroutine   Engine.Generate → pace.Pacer (may hold it) → stream.Ring (never holds it)
//	Bubble Tea         stream.Pump, at most thirty frames a second → Model.Update → state.State → View
//
// Everything drawn is a function of the state, and the state of the events. That is why a recording, played by the same
// model without an engine, draws the frames of the live run.
//
// The model is the only tea.Model. What it draws with are plain values and functions in packages of their own: state (the
// reducer), transcript and pane (the panes), layout (rectangles), theme, compose (the prompt), dialog (help, saved chats).
// Files, the network and the engine are never touched in Update; that happens in commands and guarded goroutines.
package ui

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/chats"
	"specula/ui/compose"
	"specula/ui/keeper"
)

// Message is one turn of a conversation, as the engine takes it.
type Message struct {
	Role    string // "user" or "assistant"
	Content string // raw
}

// Engine is what the screen asks of the engine. Generate is never called twice at a time; Change and Settings may be
// called while it runs.
type Engine interface {
	// Generate writes one reply. The sequence ends with event.ReplyEnded, also after ctx ended.
	Generate(ctx context.Context, messages []Message, inspect bool) iter.Seq[event.Event]
	// Change asks for a setting to hold from the next round on.
	Change(name, value string) error
	// Settings are those that the next round will use.
	Settings() config.Config
	Close() error
}

// Repeater is an Engine that can write a reply again. Drafts is what the reply's rounds drafted, as its end told.
type Repeater interface {
	Repeat(ctx context.Context, messages []Message, inspect bool, drafts string) iter.Seq[event.Event]
}

// Options say what to show and what with.
type Options struct {
	Config config.Config
	Color  string // auto, always, never

	// Load opens the engine, in the background, and tells its progress. It is not called in a replay.
	Load func(ctx context.Context, emit func(event.Event)) (Engine, error)
	// Replay is a recording to play in place of an engine.
	Replay []trace.Record
	// Record, if set, is told every event as the engine yields it, from the engine's goroutine.
	Record func(event.Event)

	// Race, if set, is run in place of a chat.
	Race *RaceStart

	Chats   *chats.Store     // where chats are saved; nil for nowhere
	History *compose.History // of prompts; nil for none
	Warning string           // shown once at the start

	// Keeper restores the terminal if this process cannot; nil for none.
	Keeper *keeper.Link

	// What the program runs in. Zero values stand for the process's own.
	Input          io.Reader
	Output, Stderr io.Writer
	Environ        []string
	Now            func() time.Time
	Tag            uint32 // tells this process's chats from another's of the same second

	// Shorter and stiller in tests.
	grace    time.Duration // graceTime
	stopTime time.Duration // how long a program waits to be stopped by the signal that it sent itself
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

// SignalError says that a signal ended the program. The chat was saved and the terminal restored before.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.Signal) }

// PanicError says that a goroutine of the program panicked. Its stack has been written to stderr.
type PanicError struct {
	Where string
	Value any
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error in %s: %v", e.Where, e.Value) }

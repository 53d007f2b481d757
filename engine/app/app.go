// Package app opens the models and the device that the settings name. It does what the commands ask for: a
// conversation, a benchmark, a proof, an exam, the description of a file.
//
// It connects the packages that do the work. No other package in engine/... knows the CPU backend and the
// built-in models. The caller supplies the GPU and the clock.
package app

import (
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/bench"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/remote"
)

// App holds what the caller supplies.
type App struct {
	Version string
	OpenGPU host.OpenGPU
	Now     func() time.Time
	Getenv  func(string) string // nil: there is no environment
}

// Report is the result of a measurement or an examination. Its JSON is stable.
type Report interface {
	WriteTable(io.Writer) error
	// Matched reports whether the result is as it must be. For a benchmark: each greedy text, and each bit of
	// its scores, was the same with and without speculation.
	Matched() bool
}

// Conversation is a session, and what is closed with it: the devices and the server that it owns.
type Conversation struct {
	*engine.Session
	engine  *engine.Engine
	devices *host.Devices  // nil: another conversation owns them
	server  *remote.Server // nil: the target is on this machine, or another conversation owns the server
}

// Open loads the models and opens a conversation. It emits the progress of loading and its result. If
// auto chose a GPU that lacks an operation of the model, Open tries again on the CPU.
func (a *App) Open(ctx context.Context, c config.Config, emit func(event.Event)) (*Conversation, error) {
	opened, err := a.open(ctx, c, "", emit)
	if errors.Is(err, compute.ErrLacks) && c.Device.Device == "auto" {
		c.Device.Device = "cpu"
		opened, err = a.open(ctx, c, err.Error(), emit)
	}
	return opened, err
}

// open is Open without the second try on the CPU. If why is not empty, it replaces the reason that
// host.Choose gives for the device.
func (a *App) open(ctx context.Context, c config.Config, why string, emit func(event.Event)) (*Conversation, error) {
	d, err := host.Choose(ctx, host.Choice(c.Device), a.OpenGPU)
	if err != nil {
		return nil, err
	}
	target, draft := models(c)
	if c.Model.Draft == "" && c.Model.Target != "" {
		draft = engine.DrafterBeside(ctx, c.Model.Target)
	}
	o := engine.Options{
		Version: a.Version, Config: c, Target: target, Draft: draft,
		Backend: d.Target, DeviceWhy: d.Why, DraftBackend: d.Draft, Fallback: d.Fallback,
		Now: a.Now, NewSeed: func() int64 { return rand.Int64N(1_000_000_000) }, // at most nine digits, which can be shown in full and typed
	}
	if why != "" {
		o.DeviceWhy = why
	}
	if c.Model.Target == "" && c.Remote.URL == "" {
		for _, h := range assets.Heads() {
			o.Heads = append(o.Heads, engine.HeadSource(h))
		}
	}
	var server *remote.Server
	if c.Remote.URL != "" {
		if server, err = a.connect(ctx, c.Remote, emit); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		o.Remote = server
	}
	e, err := engine.Load(ctx, o, emit)
	var s *engine.Session
	if err == nil {
		s, err = e.NewSession(ctx)
	}
	if err != nil {
		if server != nil {
			server.Close()
		}
		return nil, errors.Join(err, d.Close())
	}
	return &Conversation{Session: s, engine: e, devices: d, server: server}, nil
}

// silently opens a conversation without showing the progress of loading.
func (a *App) silently(ctx context.Context, c config.Config) (*Conversation, error) {
	return a.Open(ctx, c, func(event.Event) {})
}

// models returns the files or built-in models of target and draft; draft is zero if there is to be none. If a
// server has the target, target is the file with the vocabulary.
func models(all config.Config) (target, draft engine.Source) {
	c := all.Model
	if all.Remote.URL != "" {
		c.Target = all.Remote.Vocabulary
	}
	target, draft = engine.Source{Path: c.Target}, engine.Source{Path: c.Draft}
	if c.Target == "" {
		target = engine.Source{Name: "demo target", Embedded: assets.Target()}
	}
	switch {
	case c.Draft == "none", c.Draft == "" && c.Target != "":
		draft = engine.Source{}
	case c.Draft == "":
		draft = engine.Source{Name: "demo draft", Embedded: assets.Draft()}
	}
	return target, draft
}

// another opens a second conversation with the models and devices of c. Close the second one before c.
func (c *Conversation) another(ctx context.Context) (bench.Opened, error) {
	s, err := c.engine.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return &Conversation{Session: s, engine: c.engine}, nil
}

// Reply writes a reply to a conversation with one message, prompt.
func (c *Conversation) Reply(ctx context.Context, prompt string) iter.Seq[event.Event] {
	return c.Generate(ctx, engine.Request{Messages: []engine.Message{{Role: "user", Content: prompt}}})
}

// Close frees the session, and closes the devices that the conversation owns and its connections to a
// server.
func (c *Conversation) Close() error {
	err := c.Session.Close()
	if c.server != nil {
		c.server.Close()
	}
	if c.devices != nil {
		err = errors.Join(err, c.devices.Close())
	}
	return err
}

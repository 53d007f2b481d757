package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/sanitize"
)

// here is the argument of /remote for a target on this machine.
const here = "off"

// moving is the change to a target on another machine, or back.
type moving struct {
	cancel context.CancelFunc // nil if there is no change
	from   Engine             // the engine before; it stays if the other one cannot be opened
}

// moved is the event that ends the change to another target: it has the other engine, or the error because
// of which there is none.
type moved struct {
	loaded
	config config.Config
}

func (moved) Kind() string { return "moved" }

// moveTarget carries out /remote: it opens an engine whose target is on a server, or on this machine
// again, and keeps the chat. Until that engine is open the screen has none, as at the start, so a prompt
// waits.
func (m *Model) moveTarget(arg string) tea.Cmd {
	switch {
	case m.engine == nil:
		return m.say(m.whyNoEngine())
	case m.racing.stop != nil:
		return m.say("the race is still ending")
	case arg == "":
		return m.say(m.whereTarget())
	case m.options.Reopen == nil:
		return m.say("the target cannot be changed here, only in a chat")
	}
	return m.afterReply(func() tea.Cmd {
		if m.forming { // the form would go to the engine that is given up
			return m.say("a form is still being worked out: wait for it, then move the target")
		}
		c, err := elsewhere(m.engine.Settings(), arg)
		if err != nil {
			return m.say(sanitize.Line(err.Error()))
		}
		ctx, cancel := context.WithCancel(m.ctx)
		m.moving, m.engine = moving{cancel: cancel, from: m.engine}, nil
		from := m.moving.from
		m.guard.Go("opening the target", func() { m.ring.Push(m.open(ctx, c, from)) })
		if c.Remote.URL == "" {
			return m.say("opening the target on this machine: esc keeps the one on the server")
		}
		return m.say(sanitize.Line(fmt.Sprintf("asking %s: esc keeps the target that is here", c.Remote.URL)))
	})
}

// elsewhere returns the settings c, changed for the target that the argument of /remote names. An address
// that may hold a password is an error. The error does not repeat the address.
func elsewhere(c config.Config, arg string) (config.Config, error) {
	url, name, _ := strings.Cut(arg, " ")
	if url == here {
		if c.Remote.URL == "" {
			return c, errors.New("the target is on this machine")
		}
		url = ""
	}
	if c.OpensToWatch() { // the opening «watch» drafts with heads, which cannot draft for a server
		d := config.Default()
		c.Speculation, c.Sampling.Temperature = d.Speculation, d.Sampling.Temperature
	}
	c.Remote.Model = strings.TrimSpace(name)
	if c.Remote.Vocabulary == "" { // the server may have the same model, and so the vocabulary of the file here
		c.Remote.Vocabulary = c.Model.Target
	}
	err := c.Set("remote.url", url) // on a line of its own: in «return c, c.Set(…)» Go may copy c before Set changes it
	return c, err
}

// open opens the engine with the settings c. If that does not fail, open then closes the engine before.
func (m *Model) open(ctx context.Context, c config.Config, before Engine) moved {
	var other loaded
	other.engine, other.err = m.options.Reopen(ctx, c, func(e event.Event) {
		switch e := e.(type) {
		case event.Ready:
			other.ready = &e
		case event.Notice:
			m.ring.Push(e)
		}
	})
	if other.err == nil {
		if err := before.Close(); err != nil {
			m.ring.Push(event.Notice{Level: "warning", Text: "closing the engine before: " + err.Error()})
		}
		if other.ready != nil {
			m.record(*other.ready)
		}
	}
	return moved{other, c}
}

// targetMoved goes on with the other engine or, if that could not be opened, with the engine before.
func (m *Model) targetMoved(e moved) tea.Cmd {
	m.moving.cancel()
	before := m.moving.from
	m.moving = moving{}
	if e.err != nil {
		m.engine = before
		why := "the target stays: " + e.err.Error()
		if errors.Is(e.err, context.Canceled) {
			why = "the target stays"
		}
		m.waiting = ""
		return m.say(sanitize.Line(why))
	}
	m.engine, m.config.Remote, m.config.Speculation = e.engine, e.config.Remote, e.config.Speculation
	m.state.ForgetSpeeds()
	said := ""
	if e.ready != nil {
		m.state.Apply(*e.ready)
		said = m.aboutModels(*e.ready)
	}
	m.applyPace()
	m.showSettings()
	if now := m.whereTarget(); said == "" {
		said = now
	} else {
		said = now + "; " + said
	}
	cmd := m.say(said)
	if m.waits() {
		cmd = tea.Batch(cmd, m.enter())
	}
	m.waiting = ""
	return cmd
}

// whereTarget says where the target is, and which command takes the one elsewhere.
func (m *Model) whereTarget() string {
	r, url := m.state.Ready, m.engine.Settings().Remote.URL
	switch {
	case r == nil:
		return ""
	case url == "":
		return sanitize.Line(fmt.Sprintf("the target is %s on this machine; /remote ADDRESS takes one on a server", r.Target.Name))
	}
	return sanitize.Line(fmt.Sprintf("the target is %s on %s; /remote %s takes the one on this machine", r.Target.Name, r.Device, here))
}

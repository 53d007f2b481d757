package ui

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/pace"
	"specula/ui/sanitize"
)

// loaded and replyOver are events of the screen. They go through the same ring as the engine's
// events, so that they come in order.
type (
	loaded struct {
		engine Engine
		ready  *event.Ready
		err    error
	}
	replyOver struct{}
)

func (loaded) Kind() string    { return "loaded" }
func (replyOver) Kind() string { return "reply-over" }

// take applies all events since the last frame.
func (m *Model) take() tea.Cmd {
	var cmds []tea.Cmd
	events, lost := m.ring.Take()
	for _, e := range events {
		cmds = append(cmds, m.apply(e))
	}
	if lost > 0 {
		cmds = append(cmds, m.say(fmt.Sprintf("the terminal was too slow to show %d rounds; the saved text is whole", lost)))
	}
	if m.tour != nil {
		cmds = append(cmds, m.advance())
	}
	return tea.Batch(cmds...)
}

// apply applies one event to the state, and then does what the event requires elsewhere (follow).
func (m *Model) apply(e event.Event) tea.Cmd {
	switch e := e.(type) {
	case loaded:
		return m.loaded(e)
	case moved:
		return m.targetMoved(e)
	case replyOver:
		return m.replyOver()
	case raced:
		e.view.Apply(e.lane, e.event)
		return nil
	case raceOver:
		return m.raceIsOver(e)
	}
	switch e.(type) {
	case event.ReplyStarted, event.ReplyEnded:
		m.saver.changes++
	}
	forgotten := m.state.Forgotten
	m.state.Apply(e)
	cmd := m.follow(e)
	if forgotten == 0 && m.state.Forgotten > 0 {
		return tea.Batch(cmd, m.say(m.tooLong()))
	}
	return cmd
}

// follow does what an event requires outside the state.
func (m *Model) follow(e event.Event) tea.Cmd {
	switch e := e.(type) {
	case event.Ready:
		m.applyPace()
		if text := m.aboutModels(e); text != "" {
			return m.say(text)
		}
	case event.SettingChanged:
		m.inForce(config.NextRound)
	case event.Round:
		if m.state.Sequence-m.asked.rounds > 1 { // setting a value that is in force already makes no SettingChanged
			m.inForce(config.NextRound)
		}
		m.unfold()
	case event.ReplyStarted:
		m.inForce(config.NextRound)
		m.inForce(config.NextReply)
		m.present()
		m.reply.started = true
		m.lastSeed = e.Settings.Seed
		m.transcript.Follow()
		if e.DroppedTurns > 0 {
			return m.say(fmt.Sprintf("the context is full: the oldest %d turns were left out", e.DroppedTurns))
		}
	case event.Notice:
		return m.say(sanitize.Line(e.Text))
	case event.Failed:
		// In mid-reply the reason stands under the reply, so a long message need not cover a pane as well.
		if all := m.state.Messages; len(all) > 0 && all[len(all)-1].Failure != "" && len(all[len(all)-1].Rounds) > 0 {
			return m.say("the reply failed: the chat says why")
		}
		return m.say(sanitize.Line(e.Error))
	}
	return nil
}

// aboutModels returns what the user should know about the loaded models before the first reply; ""
// if there is nothing.
func (m *Model) aboutModels(e event.Ready) string {
	var said []string
	for _, w := range e.Warnings {
		said = append(said, w.About+": "+w.Text+" ("+w.Do+")")
	}
	name := m.config.Speculation.Proposer
	switch {
	case e.DraftTranslated != "":
		said = append(said, "the draft model has another vocabulary and is used "+e.DraftTranslated)
	case name == "auto" && e.Auto != nil && e.Draft == nil:
		said = append(said, e.Auto.Proposer+" drafts: "+e.Auto.Why)
	case m.refusal(name) != "":
		said = append(said, name+" cannot draft, so rounds are plain: "+m.refusal(name))
	case e.DraftRefused != "":
		said = append(said, "no draft model: "+e.DraftRefused)
	}
	return sanitize.Line(strings.Join(said, "; "))
}

// load opens the engine. It runs on a goroutine of its own, except in a film. It holds event.Ready back
// until Load has returned, because Load goes on to measure costs for a moment. Until then the engine cannot
// answer, so the user should not be invited to write.
func (m *Model) load() {
	var last loaded
	emit := func(e event.Event) {
		m.record(e)
		if ready, ok := e.(event.Ready); ok {
			last.ready = &ready
			return
		}
		m.ring.Push(e)
	}
	last.engine, last.err = m.options.Load(m.ctx, emit)
	m.ring.Push(last)
}

func (m *Model) loaded(e loaded) tea.Cmd {
	if e.err != nil {
		if m.ctx.Err() == nil || !errors.Is(e.err, m.ctx.Err()) { // unless the user quit while the models were read
			m.failure = e.err
		}
		return tea.Quit
	}
	m.engine = e.engine
	var cmds []tea.Cmd
	if e.ready != nil {
		cmds = append(cmds, m.apply(*e.ready))
	}
	m.showSettings()
	if r := m.options.Race; r != nil {
		return tea.Batch(append(cmds, m.race([]engine.Message{{Role: "user", Content: r.Prompt}}, r.Lanes, r.After))...)
	}
	if s := m.options.Demo; s != nil {
		cmds = append(cmds, m.startTour(s, m.options.Loop))
	}
	if m.waits() {
		cmds = append(cmds, m.enter())
	}
	m.waiting = ""
	return tea.Batch(cmds...)
}

// applyPace sets the pace to the configured one. Auto means slow with the built-in pair, whose replies
// would end before a user has seen a round, and full with other models.
func (m *Model) applyPace() {
	mode, err := pace.Parse(m.config.UI.Pace)
	if err != nil { // auto
		mode = pace.Full
		if m.isEmbedded() {
			mode = pace.Slow
		}
	}
	m.pacer.Set(mode, m.config.UI.Rounds)
}

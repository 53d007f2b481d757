package ui

import (
	"context"
	"iter"
	"maps"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
)

// reply is the one being written, or the last one.
type reply struct {
	stop    context.CancelFunc // nil when none is being written
	started bool               // the engine took the prompt
	prompt  string             // goes back into the composer if it is refused
	edited  bool               // it replaced the last exchange
	then    func() tea.Cmd     // what to do when it is over
}

func (m *Model) busy() bool { return m.reply.stop != nil }

// send starts a reply. It reports false, and says why, when it cannot.
func (m *Model) send(prompt string) (tea.Cmd, bool) { return m.sendAgain(prompt, "") }

// sendAgain starts a reply that drafts what another one drafted; drafts is empty for none.
func (m *Model) sendAgain(prompt, drafts string) (tea.Cmd, bool) {
	switch {
	case m.options.Load == nil:
		return m.say("this is a recorded reply: there is no model to answer"), false
	case m.engine == nil:
		m.waiting = prompt
		return m.say("the models are still being read: this is sent as soon as they are"), false
	case m.busy():
		return m.say("a reply is being written: esc stops it"), false
	case m.forming:
		m.waiting = prompt
		return m.say("the form is still being worked out: this is sent as soon as it is"), false
	case m.racing.stop != nil:
		return m.say("the race is still ending"), false
	}
	edited := m.editing
	if edited {
		m.editing = false
		m.state.RemoveLast()
	}
	messages := append(m.conversation(), Message{"user", prompt})
	inspect := m.config.UI.Inspect
	ctx, cancel := context.WithCancel(m.ctx)
	m.reply = reply{stop: cancel, prompt: prompt, edited: edited}
	m.guard.Go("the engine", func() {
		defer m.ring.Push(replyOver{})
		m.pacer.Play(ctx, m.recorded(m.generate(ctx, messages, inspect, drafts)), m.ring.Push)
	})
	m.transcript.Follow()
	return nil, true
}

func (m *Model) generate(ctx context.Context, messages []Message, inspect bool, drafts string) iter.Seq[event.Event] {
	if again, ok := m.engine.(Repeater); ok && drafts != "" {
		return again.Repeat(ctx, messages, inspect, drafts)
	}
	return m.engine.Generate(ctx, messages, inspect)
}

// sameAgain returns the drafts of the last reply if it was written with the settings in force, its seed among them: then it is to
// be the same again.
func (m *Model) sameAgain() string {
	if len(m.state.Messages) == 0 {
		return ""
	}
	written, drafts, ok := m.state.Messages[len(m.state.Messages)-1].Again()
	if !ok {
		return ""
	}
	c := m.engine.Settings()
	if !maps.Equal(c.Recipe(), written) {
		return ""
	}
	return drafts
}

// waits reports whether the prompt is sent as soon as the models or a form are there.
func (m *Model) waits() bool { return m.waiting != "" && m.waiting == m.composer.Value() }

// withdraw keeps the prompt from being sent. It stays where it can be changed.
func (m *Model) withdraw() tea.Cmd {
	m.waiting = ""
	return m.say("not sent: the prompt waits for enter again")
}

// conversation is what was said so far, raw.
func (m *Model) conversation() []Message {
	var out []Message
	for t := range m.state.Turns() {
		out = append(out, Message{t.Role, t.Raw})
	}
	return out
}

// recorded passes events on and records them as the engine yields them, before any pacing.
func (m *Model) recorded(events iter.Seq[event.Event]) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for e := range events {
			m.record(e)
			if !yield(e) {
				return
			}
		}
	}
}

// stop ends the reply being written; what is written stays.
func (m *Model) stop() tea.Cmd {
	if !m.busy() {
		return nil
	}
	m.reply.stop()
	return nil
}

// replyOver cleans up behind a reply, however it ended.
func (m *Model) replyOver() tea.Cmd {
	r := m.reply
	m.reply.stop, m.reply.then = nil, nil
	if r.stop != nil {
		r.stop()
	}
	if m.state.Busy() { // a stream without its end: a recording that was stopped or cut
		m.state.Apply(event.ReplyEnded{Reason: "cancelled"})
	}
	var cmds []tea.Cmd
	if (!r.started || m.state.Refused) && r.prompt != "" && m.composer.Value() == "" {
		m.composer.SetValue(r.prompt) // it can be shortened and sent again
		m.editing = r.edited
		m.arrange()
	}
	if m.engine != nil {
		m.showSettings()
		cmds = append(cmds, m.save(false))
	}
	if r.then != nil {
		cmds = append(cmds, r.then())
	}
	return tea.Batch(cmds...)
}

// afterReply does something at once, or stops the reply and does it then.
func (m *Model) afterReply(do func() tea.Cmd) tea.Cmd {
	if !m.busy() {
		return do()
	}
	m.reply.then = do
	return m.stop()
}

// regenerate writes the last reply again; in a replay, it plays the recording again.
func (m *Model) regenerate() tea.Cmd {
	return m.afterReply(func() tea.Cmd {
		if m.options.Load == nil {
			m.state.ClearChat()
			m.play()
			return nil
		}
		if m.engine == nil {
			return m.say("the models are still being read")
		}
		drafts := m.sameAgain()
		prompt, ok := m.state.RemoveLast()
		if !ok {
			return m.say("there is no reply yet")
		}
		m.backToComposer()
		cmd, sent := m.sendAgain(prompt, drafts)
		if sent && drafts != "" {
			cmd = m.say("its seed is kept, so this is the same reply again")
		}
		m.reply.prompt = "" // if it is refused, the exchange with it comes back
		return cmd
	})
}

// editLast puts the last message into the composer. It replaces the exchange only when it is sent.
func (m *Model) editLast() tea.Cmd {
	for i := len(m.state.Messages) - 1; i >= 0; i-- {
		if last := m.state.Messages[i]; last.Role == "user" {
			m.backToComposer()
			m.editing = true
			m.composer.SetValue(last.Raw)
			m.arrange()
			return m.say("enter sends it in place of the old one, esc leaves everything as it was")
		}
	}
	return m.say("there is no message yet")
}

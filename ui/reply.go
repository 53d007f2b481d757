package ui

import (
	"context"
	"iter"
	"maps"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/event"
)

// reply is the current reply; when none is written, the last one.
type reply struct {
	stop    context.CancelFunc // nil if no reply is being written
	started bool               // the engine has accepted the prompt
	prompt  string             // is put back into the composer if the engine refuses it
	edited  bool               // the prompt replaced the last exchange
	then    func() tea.Cmd     // to call after the reply; may be nil
}

func (m *Model) busy() bool { return m.reply.stop != nil }

// send starts a reply to the prompt, and returns true. If it cannot, it returns false, and says why in the
// status line.
func (m *Model) send(prompt string) (tea.Cmd, bool) { return m.sendAgain(prompt, "") }

// sendAgain is send for a reply that repeats the drafts of another reply. If drafts is "", the proposer
// drafts as usual.
func (m *Model) sendAgain(prompt, drafts string) (tea.Cmd, bool) {
	switch {
	case m.options.Load == nil:
		return m.say("this is a recorded reply: there is no model to answer"), false
	case m.engine == nil:
		m.waiting = prompt
		return m.say("the models are still being read: this is sent as soon as they are"), false
	case m.busy():
		return m.sayWriting(), false
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
	messages := append(m.conversation(), engine.Message{Role: "user", Content: prompt})
	// Sparing: collecting data for the inspector may take only a little of the engine's time.
	request := engine.Request{Messages: messages, Inspect: m.config.UI.Inspect, Sparing: true, Drafts: drafts}
	ctx, cancel := context.WithCancel(m.ctx)
	m.reply = reply{stop: cancel, prompt: prompt, edited: edited}
	m.perform(ctx, "the engine", m.recorded(m.engine.Generate(ctx, request)), func() event.Event { return replyOver{} })
	m.transcript.Follow()
	return nil, true
}

// sayWriting tells the user why something must wait: a reply is being written. The message goes when the
// reply ends (replyOver).
func (m *Model) sayWriting() tea.Cmd {
	cmd := m.say("a reply is being written: esc stops it")
	m.saysWriting = true
	return cmd
}

// perform shows the events of a reply or a race at the current pace, and then the event that over returns.
func (m *Model) perform(ctx context.Context, what string, events iter.Seq[event.Event], over func() event.Event) {
	if m.options.perform != nil {
		m.options.perform(ctx, events, over)
		return
	}
	m.guard.Go(what, func() {
		defer func() { m.ring.Push(over()) }()
		m.pacer.Play(ctx, events, m.ring.Push)
	})
}

// sameAgain returns the drafts of the last reply if it was written with the current settings, including
// the seed: then writing it again must give the same text. Otherwise it returns "".
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

// waits reports whether the prompt was entered before the models, another target or a form was ready, and
// will be sent then.
func (m *Model) waits() bool { return m.waiting != "" && m.waiting == m.composer.Value() }

// withdraw cancels the sending of a waiting prompt. The prompt stays in the composer.
func (m *Model) withdraw() tea.Cmd {
	m.waiting = ""
	return m.say("not sent: the prompt waits for enter again")
}

// conversation returns the raw messages so far.
func (m *Model) conversation() []engine.Message {
	var out []engine.Message
	for t := range m.state.Turns() {
		out = append(out, engine.Message{Role: t.Role, Content: t.Raw})
	}
	return out
}

// recorded records each event as soon as it comes, and then yields it.
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

// stop ends the current reply, whose text so far stays, and the change to another target.
func (m *Model) stop() tea.Cmd {
	if m.moving.cancel != nil {
		m.moving.cancel()
	}
	if !m.busy() {
		return nil
	}
	m.reply.stop()
	return nil
}

// replyOver is called when no more events of a reply come. It puts a refused prompt back into the composer,
// saves the chat, and does what waited for the end of the reply.
func (m *Model) replyOver() tea.Cmd {
	r := m.reply
	m.reply.stop, m.reply.then = nil, nil
	if r.stop != nil {
		r.stop()
	}
	if m.saysWriting {
		m.flash, m.saysWriting = "", false
	}
	if m.state.Busy() { // events without a ReplyEnded: a recording that was stopped or cut off
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

// afterReply calls do. If a reply is being written, it stops the reply, and do is called once that has
// ended.
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
			return m.playFrom(0)
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
		m.reply.prompt = "" // if the engine refuses the prompt, the state restores the whole exchange
		return cmd
	})
}

// editLast puts the last prompt into the composer. The exchange is replaced when that prompt is sent.
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

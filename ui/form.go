package ui

import (
	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
)

// formSet is the message that the engine has accepted or refused a form.
type formSet struct {
	setting config.Setting
	value   string
	err     error
}

// setForm gives the engine a form for replies, in the background: compiling one may take seconds.
func (m *Model) setForm(s config.Setting, value string) tea.Cmd {
	if m.forming {
		return m.say("the form asked for before is still being worked out")
	}
	m.forming = true
	engine := m.engine
	return tea.Batch(m.say("working out the form …"), func() tea.Msg { return formSet{s, value, engine.Change(s.Name, value)} })
}

// formSet shows whether the engine has accepted the form. If it has, formSet sends the prompt that waited
// for the form; otherwise that prompt stays unsent.
func (m *Model) formSet(msg formSet) tea.Cmd {
	m.forming = false
	said := m.changed(msg.setting, msg.value, msg.err)
	send := m.waits() && msg.err == nil
	m.waiting = ""
	if !send {
		return said
	}
	return tea.Batch(said, m.enter())
}

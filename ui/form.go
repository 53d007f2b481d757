package ui

import (
	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
)

// formSet tells what became of a form that was asked for.
type formSet struct {
	setting config.Setting
	value   string
	err     error
}

// setForm asks the engine for a form of replies. Working one out may take seconds, so the screen does not wait for it.
func (m *Model) setForm(s config.Setting, value string) tea.Cmd {
	if m.forming {
		return m.say("the form asked for before is still being worked out")
	}
	m.forming = true
	engine := m.engine
	return tea.Batch(m.say("working out the form …"), func() tea.Msg { return formSet{s, value, engine.Change(s.Name, value)} })
}

// formSet says how it went, and sends the prompt that waited for it.
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

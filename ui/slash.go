package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"specula/ui/command"
	"specula/ui/dialog"
	"specula/ui/sanitize"
)

// run executes a slash command.
func (m *Model) run(c command.Call) tea.Cmd {
	switch c.Command.Verb {
	case command.Set:
		return m.set(c)
	case command.Regenerate:
		return m.regenerate()
	case command.Edit:
		return m.editLast()
	case command.Copy:
		if c.Arg == "chat" {
			return m.copyChat()
		}
		return m.copyReply()
	case command.New:
		return m.startNewChat()
	case command.Save:
		if c.Arg != "" {
			m.chat.Title = c.Arg
		}
		return m.save(true)
	case command.Open:
		return m.listChats()
	case command.Export:
		return m.export(c.Arg)
	case command.Remote:
		return m.moveTarget(c.Arg)
	case command.Record:
		return m.recordTo(c.Arg)
	case command.Race:
		return m.raceLast(c.Arg)
	case command.Tradeoff:
		m.tradeoff = !m.tradeoff
	case command.Present:
		return m.nextAudience()
	case command.Demo:
		return m.startDemo(c.Arg)
	case command.Help:
		m.dialog = dialog.NewHelp()
	case command.Quit:
		return tea.Quit
	}
	return nil
}

// set changes a setting. Without a value it shows the setting.
func (m *Model) set(c command.Call) tea.Cmd {
	s := c.Command.Setting
	if c.Arg == "" {
		return m.say(sanitize.Line(fmt.Sprintf("%s is %s (%s): %s", s.Slash, m.valueOf(s), s.Allowed(), s.Doc)))
	}
	if s.Name == "speculation.gamma" {
		return m.fixGamma(c.Value())
	}
	return m.change(s.Name, c.Value())
}

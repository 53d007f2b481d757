package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/ui/sanitize"
)

// isEmbedded reports whether the target is the built-in one. The draft model may still be another.
func (m *Model) isEmbedded() bool {
	return m.state.Ready != nil && m.state.Ready.Target.Path == "embedded"
}

// otherOpening switches between two sets of settings for the built-in pair: «watch», with which drafts are
// refused now and then, and «fast», the fastest.
func (m *Model) otherOpening() tea.Cmd {
	switch {
	case m.engine == nil:
		return m.say(m.whyNoEngine())
	case !m.isEmbedded():
		return m.say("only the built-in pair has a fast draft and one to watch")
	}
	name, words := "watch", "to watch"
	if m.engine.Settings().OpensToWatch() {
		name, words = "fast", "fast"
	}
	var said []string
	for _, v := range config.Opening(name) {
		if err := m.engine.Change(v.Name, v.Text); err != nil {
			return m.say(sanitize.Line(err.Error()))
		}
		said = append(said, v.Name[strings.IndexByte(v.Name, '.')+1:]+" "+v.Text)
	}
	m.showSettings()
	return m.sayAsked(words+": "+strings.Join(said, ", "), config.NextRound, "")
}

package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/ui/sanitize"
)

// askedChange is the change of a setting that the message in the status line is about.
type askedChange struct {
	when   config.Applies // when it takes effect, as the message says; "" if the message says nothing of it
	rounds int            // number of rounds seen (state.Sequence) when the change was asked for
}

// sayAsked tells the user that a setting was changed. The message begins with the string text and ends
// with the string after. During a reply it says between them when the change takes effect. Between replies
// it does not, because the line of settings shows the change at once.
func (m *Model) sayAsked(text string, when config.Applies, after string) tea.Cmd {
	if !m.busy() {
		return m.say(sanitize.Line(text + after))
	}
	cmd := m.say(sanitize.Line(text + whenWords(when) + after))
	m.asked = askedChange{when, m.state.Sequence}
	return cmd
}

func whenWords(when config.Applies) string { return ", " + string(when) }

// inForce is called when the changes that waited for the moment when, such as the next round, have taken
// effect. If the message in the status line is about one of them, inForce removes the words about that
// moment from the message.
func (m *Model) inForce(when config.Applies) {
	if m.asked.when == when {
		m.flash = strings.Replace(m.flash, whenWords(when), "", 1)
		m.asked = askedChange{}
	}
}

package ui

import (
	"strings"

	"specula/ui/command"
	"specula/ui/keys"
	"specula/ui/pane"
)

// menu is the state of the list of completions for the command in the prompt.
type menu struct {
	prompt string // the prompt that the list is for; another prompt gets a new list
	at     int    // index of the marked completion among those of the prompt; -1 for none
	moved  bool   // an arrow key has marked the completion
	closed bool   // esc has closed the list, or the prompt came from the history
}

// ways returns the completions for the prompt, and the usage of its command. Both are empty if the list is
// closed or the prompt is no command.
func (m *Model) ways() command.Completion {
	prompt := m.composer.Value()
	if m.focus != keys.Compose || !strings.HasPrefix(prompt, "/") || strings.ContainsRune(prompt, '\n') {
		return command.Completion{}
	}
	c := command.Complete(prompt)
	if m.list.prompt != prompt {
		m.list = menu{prompt: prompt}
		if strings.HasSuffix(prompt, " ") { // nothing is marked yet, so enter runs what is typed
			m.list.at = -1
		}
	}
	if m.list.closed {
		return command.Completion{}
	}
	return c
}

// chosen returns the completion that is marked in the list.
func (m *Model) chosen() (way command.Way, ok bool) {
	ways := m.ways().Ways
	if m.list.at < 0 || m.list.at >= len(ways) {
		return command.Way{}, false
	}
	return ways[m.list.at], true
}

// moveInMenu marks another completion. done is false if there is no list.
func (m *Model) moveInMenu(a keys.Action) (done bool) {
	n := len(m.ways().Ways)
	if n == 0 {
		return false
	}
	switch {
	case a == keys.HistoryForward:
		m.list.at = (m.list.at + 1) % n
	case m.list.at <= 0:
		m.list.at = n - 1
	default:
		m.list.at--
	}
	m.list.moved = true
	return true
}

// fillIn puts the marked completion into the prompt, or the first one if none is marked.
func (m *Model) fillIn() {
	way, ok := m.chosen()
	if ways := m.ways().Ways; !ok && len(ways) > 0 {
		way, ok = ways[0], true
	}
	if ok {
		m.composer.SetValue(way.Prompt)
		m.arrange()
	}
}

// enterInMenu fills in the marked completion. send is false if an argument is still missing. Two prompts
// stay as they are typed: one without a marked completion, and the whole name of a command, unless an
// arrow key has marked another completion.
func (m *Model) enterInMenu() (send bool) {
	prompt := m.composer.Value()
	way, ok := m.chosen()
	if !ok {
		return true
	}
	if _, err := command.Parse(prompt); err == nil && !m.list.moved && m.ways().Usage == "" {
		return true
	}
	m.fillIn()
	return way.Ready
}

// closeMenu closes the list until the prompt changes. It reports whether there was a list to close.
func (m *Model) closeMenu() bool {
	if m.drawMenu() == nil {
		return false
	}
	m.list.closed = true
	return true
}

// menuShare limits the list of completions to 1/menuShare of the rows above the prompt.
const menuShare = 2

// drawMenu draws the list; nil if there is nothing to show.
func (m *Model) drawMenu() []string {
	c := m.ways()
	rows := (m.rects.Composer.Y - 1) / menuShare
	if c.Usage != "" {
		rows--
	}
	choices := make([]pane.Choice, len(c.Ways))
	for i, w := range c.Ways {
		choices[i] = pane.Choice{Name: w.Name, Does: w.Does}
	}
	lines := pane.Menu(m.theme, m.size.w, rows, choices, m.list.at)
	if c.Usage != "" {
		lines = append(lines, pane.Usage(m.theme, m.size.w, c.Usage)...)
	}
	return lines
}

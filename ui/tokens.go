package ui

import (
	tea "charm.land/bubbletea/v2"

	"specula/ui/keys"
	"specula/ui/state"
	"specula/ui/transcript"
)

// toTranscript moves the focus to the reply, with the cursor on its newest token.
func (m *Model) toTranscript() tea.Cmd {
	ref := m.state.Newest()
	if ref == (state.Ref{}) {
		return m.say("there is no token to look at yet")
	}
	if !m.visible(ref) {
		ref = m.step(ref, false)
	}
	m.point(ref)
	return nil
}

// point puts the cursor on a token.
func (m *Model) point(ref state.Ref) {
	m.focus, m.cursor = keys.Read, ref
	m.composer.SetFocus(false)
	m.transcript.Reveal(ref)
}

// readAction does the action of a key while the reply has the focus: most keys move the cursor over the
// tokens.
func (m *Model) readAction(a keys.Action) tea.Cmd {
	if a != keys.Step && a != keys.StepBack && a != keys.Inspect && a != keys.None {
		m.past = state.Moment{}
	}
	switch a {
	case keys.ToComposer:
		m.backToComposer()
	case keys.Left:
		m.point(m.step(m.cursor, false))
	case keys.Right:
		m.point(m.step(m.cursor, true))
	case keys.Up, keys.Down:
		if ref, ok := m.transcript.Vertical(m.cursor, a == keys.Down); ok {
			m.point(ref)
		}
	case keys.Top:
		m.point(m.step(m.firstToken(), true))
	case keys.Bottom:
		m.toTranscript()
		m.transcript.Follow()
	case keys.Inspect:
		m.inspector = !m.inspector
		m.arrange()
		m.transcript.Reveal(m.cursor)
	case keys.Step:
		m.stepForward()
	case keys.StepBack:
		return m.stepBack()
	}
	return nil
}

// firstToken returns the position just before the first token of the chat; if the chat has no token, that
// of the cursor.
func (m *Model) firstToken() state.Ref {
	for _, msg := range m.state.Messages {
		if len(msg.Tokens) > 0 {
			return state.Ref{Message: msg.ID, Token: -1}
		}
	}
	return m.cursor
}

// step returns the nearest visible token before or after ref, or ref if there is none.
func (m *Model) step(ref state.Ref, forward bool) state.Ref {
	for at := ref; ; {
		next := m.state.Step(at, forward, m.rejected != transcript.Never)
		if next == at {
			return ref
		}
		if m.visible(next) {
			return next
		}
		at = next
	}
}

// visible reports whether the transcript draws the token.
func (m *Model) visible(ref state.Ref) bool {
	return m.looks().Shows(m.state, ref)
}

// clicked selects the token under the mouse. A click on the selected token opens or closes the
// inspector. A click on the prompt moves the focus there.
func (m *Model) clicked(c tea.MouseClickMsg) tea.Cmd {
	if m.dialog != nil || c.Button != tea.MouseLeft {
		return nil
	}
	switch {
	case m.rects.Chat.Contains(c.X, c.Y):
		ref, ok := m.transcript.Hit(c.X-m.rects.Chat.X, c.Y-m.rects.Chat.Y)
		if !ok {
			return nil
		}
		if ref == m.cursor {
			m.inspector = !m.inspector
			m.arrange()
		}
		m.point(ref)
	case m.rects.Composer.Contains(c.X, c.Y):
		m.backToComposer()
	}
	return nil
}

func (m *Model) wheeled(w tea.MouseWheelMsg) {
	const lines = 3
	switch {
	case m.dialog != nil:
		m.dialog.Update(w)
	case w.Button == tea.MouseWheelUp:
		m.transcript.Scroll(-lines)
	case w.Button == tea.MouseWheelDown:
		m.transcript.Scroll(lines)
	}
}

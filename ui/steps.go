package ui

import (
	tea "charm.land/bubbletea/v2"

	"specula/ui/keys"
	"specula/ui/pace"
	"specula/ui/state"
)

// Stepping goes through a reply token by token. In the present, a step lets the engine draft or verify.
// After a verification, each step shows one verdict more. Steps back, and forward again up to the present,
// only show moments of the past.

// stepping reports whether the reply waits for a key after each draft and each verification, or a race
// after each round.
func (m *Model) stepping() bool {
	mode, _ := m.pacer.Mode()
	return mode == pace.Step && (m.busy() || m.racing.stop != nil)
}

// stepForward shows the next moment. In the present it lets the engine draft or verify once.
func (m *Model) stepForward() {
	if m.past == (state.Moment{}) {
		m.pacer.Next()
		return
	}
	m.lookAt(m.state.Forth(m.past))
}

// stepBack shows the moment before. A reply that is being written pauses after its next draft or
// verification.
func (m *Model) stepBack() tea.Cmd {
	var cmd tea.Cmd
	if m.busy() && !m.stepping() {
		cmd = m.setUI("ui.pace", pace.Step.String())
	}
	from := m.past
	if from == (state.Moment{}) && m.focus == keys.Read {
		from = m.state.MomentOf(m.cursor)
	}
	m.lookAt(m.state.Back(from))
	return cmd
}

// lookAt shows a moment. It shows the present for the zero moment, and for one whose round is no longer kept.
func (m *Model) lookAt(at state.Moment) {
	p, ok := m.state.Past(at)
	if !ok {
		m.present()
		return
	}
	m.past = at
	if m.focus == keys.Read {
		m.cursor = p.Last
	}
	m.transcript.Reveal(p.Last)
}

// present leaves the past.
func (m *Model) present() {
	if m.past != (state.Moment{}) {
		m.past = state.Moment{}
		m.transcript.Follow()
	}
}

// unfold begins to show the verdicts of a new round one after the other, if the reply waits for keys and
// the screen shows the present.
func (m *Model) unfold() {
	if m.stepping() && m.past == (state.Moment{}) {
		m.lookAt(m.state.Judging())
	}
}

// laneMoment returns the moment that the lane shows: the moment in the past that the screen shows, if
// there is one. Otherwise, if the cursor is on a token and no reply is stepped through, it is the end of
// that token's round. In all other cases it is the zero moment, the present.
func (m *Model) laneMoment() state.Moment {
	if m.past != (state.Moment{}) || m.focus != keys.Read || m.stepping() {
		return m.past
	}
	return m.state.RoundOf(m.cursor)
}

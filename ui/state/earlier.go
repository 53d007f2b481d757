package state

import (
	"iter"
	"slices"

	"specula/engine/event"
)

// Turn is a message in the form in which it is saved.
type Turn struct {
	Role   string // "user" or "assistant"
	Raw    string // as typed or generated, not safe for a terminal
	Reason string // why the reply ended
	Totals event.Totals
	Record Record // the events from which the reply was shown
}

// Turns yields the turns of the chat that are saved and given to the model, oldest first. They include turns
// of messages that were dropped from Messages, unless their text was forgotten, too (see Forgotten).
func (s *State) Turns() iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		for _, t := range s.earlier {
			if !yield(t) {
				return
			}
		}
		for _, m := range s.Messages {
			if !yield(turnOf(m)) {
				return
			}
		}
	}
}

func turnOf(m *Message) Turn {
	t := Turn{Role: m.Role, Raw: m.Raw, Reason: m.Reason, Totals: m.Totals, Record: m.record}
	t.Record.Events = slices.Clone(t.Record.Events) // because the turn is saved in the background while m grows
	return t
}

// bytes is what a turn adds towards earlierLimitBytes: its text, and an estimate of the rest.
func (t *Turn) bytes() int { return len(t.Raw) + turnBytes }

// keepTurn keeps the text of a message that is dropped. While all such texts take more than
// earlierLimitBytes, keepTurn forgets the oldest exchange, user and reply: many chat templates require
// that a conversation begins with the user.
func (s *State) keepTurn(m *Message) {
	t := turnOf(m)
	t.Record.Events = nil
	s.earlier = append(s.earlier, t)
	s.earlierBytes += t.bytes()
	for s.earlierBytes > earlierLimitBytes || s.Forgotten > 0 && len(s.earlier) > 0 && s.earlier[0].Role != "user" {
		s.earlierBytes -= s.earlier[0].bytes()
		s.earlier[0] = Turn{} // so that the underlying array does not keep the text
		s.earlier = s.earlier[1:]
		s.Forgotten++
	}
}

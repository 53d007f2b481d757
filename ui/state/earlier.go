package state

import (
	"iter"
	"slices"

	"specula/engine/event"
)

// Turn is one message as it is saved.
type Turn struct {
	Role   string // "user" or "assistant"
	Raw    string // as it was typed or generated
	Reason string // why the reply ended
	Totals event.Totals
	Record Record // how the reply came about
}

// Turns yields everything said in the chat, oldest first, also what has left Messages. It is what is saved and what the
// model is told; only what was Forgotten is missing.
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
	t.Record.Events = slices.Clone(t.Record.Events) // whoever saves it reads it while this message goes on
	return t
}

// bytes is what a turn counts towards earlierLimitBytes: its text, and what a file takes for the rest of it.
func (t *Turn) bytes() int { return len(t.Raw) + turnBytes }

// keepTurn keeps what a message that leaves Messages said. When that becomes too much, the oldest exchanges are forgotten;
// whole ones, since many chat templates want a conversation to begin with the user.
func (s *State) keepTurn(m *Message) {
	t := turnOf(m)
	t.Record.Events = nil
	s.earlier = append(s.earlier, t)
	s.earlierBytes += t.bytes()
	for s.earlierBytes > earlierLimitBytes || s.Forgotten > 0 && len(s.earlier) > 0 && s.earlier[0].Role != "user" {
		s.earlierBytes -= s.earlier[0].bytes()
		s.earlier[0] = Turn{} // the array behind the slice must not keep the text
		s.earlier = s.earlier[1:]
		s.Forgotten++
	}
}

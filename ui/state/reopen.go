package state

import (
	"strings"

	"specula/engine/event"
	"specula/ui/sanitize"
)

// Reopen replaces the chat by a saved one. A reply is shown from its events, as when it was written. If
// the events are missing, or do not give its text, only the text is shown.
func (s *State) Reopen(turns []Turn) {
	s.ClearChat()
	phase, prefill, marks, changed := s.Phase, s.Prefill, s.marks, s.changed
	context := s.Reply.ContextTokens
	s.marks, s.changed = nil, nil
	for i := 0; i < len(turns); i++ {
		if i+1 < len(turns) && turns[i].Role == "user" && s.replay(turns[i].Raw, &turns[i+1]) {
			i++
			continue
		}
		s.addStored(&turns[i])
	}
	s.Phase, s.Prefill, s.marks, s.changed = phase, prefill, marks, changed
	if context > 0 { // keep the size of the loaded model's context
		s.Reply.ContextTokens = context
	}
}

// replay applies the events of a saved exchange. If they do not give its text, it does nothing and
// returns false.
func (s *State) replay(prompt string, t *Turn) bool {
	if !t.spelled() {
		return false
	}
	started := *t.Record.Started
	started.Prompt = prompt
	s.Apply(started)
	for _, e := range t.Record.Events {
		switch e.(type) {
		case event.Round, event.SettingChanged, event.Failed:
			s.Apply(e)
		}
	}
	s.Apply(event.ReplyEnded{Reply: started.Reply, Reason: t.Reason, Text: t.Raw, Totals: t.Totals, Tail: t.Record.Tail, Drafts: t.Record.Drafts})
	return true
}

// spelled reports whether the texts of a reply's tokens add up to its text. If not, drawing the tokens
// would show another text than is copied, saved and given to the model.
func (t *Turn) spelled() bool {
	if t.Role != "assistant" || t.Record.Started == nil {
		return false
	}
	rest, rounds := t.Raw, 0
	for _, e := range t.Record.Events {
		r, ok := e.(event.Round)
		if !ok {
			continue
		}
		rounds++
		for _, token := range r.Committed() {
			if rest, ok = strings.CutPrefix(rest, token.Text); !ok {
				return false
			}
		}
	}
	return rest == t.Record.Tail && rounds > 0
}

// addStored appends a message as text, without tokens.
func (s *State) addStored(t *Turn) {
	s.add(&Message{
		Role: sanitize.Line(t.Role), Raw: t.Raw, Text: sanitize.Text(t.Raw), Done: true,
		Reason: sanitize.Line(t.Reason), Totals: t.Totals, record: Record{Started: t.Record.Started, Drafts: t.Record.Drafts},
	})
}

package state

import (
	"strings"

	"specula/engine/event"
	"specula/ui/sanitize"
)

// Reopen shows a stored chat in place of the one on screen. Replies are drawn from their events, as when they were written;
// one whose events are missing, or do not amount to its text, is shown as text alone.
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
	if context > 0 { // of the model that is loaded now
		s.Reply.ContextTokens = context
	}
}

// replay takes the events of a stored exchange, or reports that they are not what its text came from.
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

// spelled reports whether the tokens of a reply spell its text. Otherwise what is drawn would not be what is copied, saved and
// told to the model.
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

// addStored appends a message of which only the text is known.
func (s *State) addStored(t *Turn) {
	s.add(&Message{
		Role: sanitize.Line(t.Role), Raw: t.Raw, Text: sanitize.Text(t.Raw), Done: true,
		Reason: sanitize.Line(t.Reason), Totals: t.Totals, record: Record{Started: t.Record.Started, Drafts: t.Record.Drafts},
	})
}

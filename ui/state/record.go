package state

import (
	"slices"

	"specula/engine/event"
)

// Record is how a reply came about: the events that it was drawn from. It is saved with the chat, so that the chat looks the
// same when it is opened again. Its text is raw.
type Record struct {
	Started *event.ReplyStarted // without the prompt, which is the message before; nil if it is not known
	Events  []event.Event       // rounds, changed settings and failures; nil when they were too much to keep
	Tail    string              // text after that of the last token
	Drafts  string              // what its rounds drafted, to write it again; see event.ReplyEnded
}

// Again returns what it takes to write a reply again: every setting that was not at its default, and what its rounds drafted;
// false where that is not known, or is not all, because settings changed in the middle.
func (m *Message) Again() (settings map[string]string, drafts string, ok bool) {
	r := &m.record
	if r.Started == nil || r.Drafts == "" || slices.ContainsFunc(r.Events, changedWithin) {
		return nil, "", false
	}
	return r.Started.Config, r.Drafts, true
}

// changedWithin reports whether an event is a setting that changed within a reply, and not before it.
func changedWithin(e event.Event) bool {
	c, ok := e.(event.SettingChanged)
	return ok && c.Round > 0
}

// note keeps an event in the record of the reply being written. A setting that changes between replies waits for the next one.
func (s *State) note(e event.Event) {
	if m := s.current(); m != nil {
		m.record.Events = append(m.record.Events, e)
		return
	}
	if _, ok := e.(event.SettingChanged); ok && len(s.changed) < markLimit {
		s.changed = append(s.changed, e)
	}
}

// begin opens the record of a reply.
func (s *State) begin(m *Message, e event.ReplyStarted) {
	e.Prompt = ""
	m.record = Record{Started: &e, Events: s.changed}
	s.changed = nil
}

// trimCandidates drops the candidates of all but the newest tokens; room is how many may keep theirs.
func (r *Record) trimCandidates(room int) {
	for i := len(r.Events) - 1; i >= 0; i-- {
		round, ok := r.Events[i].(event.Round)
		if !ok {
			continue
		}
		if room -= len(round.Draft) + 1; room < 0 {
			r.Events[i] = withoutCandidates(round)
		}
	}
}

// withoutCandidates copies a round: whoever else was told of it keeps what it was told.
func withoutCandidates(r event.Round) event.Round {
	draft := make([]event.Token, len(r.Draft))
	for i, t := range r.Draft {
		t.Target, t.Draft, t.LogProbs = nil, nil, nil
		draft[i] = t
	}
	r.Draft = draft
	if r.Commit != nil {
		t := *r.Commit
		t.Target, t.Draft, t.LogProbs = nil, nil, nil
		r.Commit = &t
	}
	return r
}

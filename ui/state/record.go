package state

import (
	"slices"

	"specula/engine/event"
)

// Record holds the events from which a reply was shown. It is saved with the chat, so that a reopened chat
// looks the same. Its text is raw.
type Record struct {
	Started *event.ReplyStarted // without the prompt, which is the message before; nil if not known
	Events  []event.Event       // rounds, changed settings and failures; nil if they were too many
	Tail    string              // text after the last token's
	Drafts  string              // what the rounds drafted, to write the reply again; see event.ReplyEnded
}

// Again returns what is needed to write a reply again: the settings that differ from their defaults, and
// what the rounds drafted. ok is false if these are not known, or if settings changed during the reply.
func (m *Message) Again() (settings map[string]string, drafts string, ok bool) {
	r := &m.record
	if r.Started == nil || r.Drafts == "" || slices.ContainsFunc(r.Events, changedWithin) {
		return nil, "", false
	}
	return r.Started.Config, r.Drafts, true
}

// changedWithin reports whether an event is a change of a setting during a reply, not before it.
func changedWithin(e event.Event) bool {
	c, ok := e.(event.SettingChanged)
	return ok && c.Round > 0
}

// note adds an event to the record of the current reply. A change of a setting between replies is kept
// for the next reply.
func (s *State) note(e event.Event) {
	if m := s.current(); m != nil {
		m.record.Events = append(m.record.Events, e)
		return
	}
	if _, ok := e.(event.SettingChanged); ok && len(s.changed) < markLimit {
		s.changed = append(s.changed, e)
	}
}

// begin begins the record of a reply.
func (s *State) begin(m *Message, e event.ReplyStarted) {
	e.Prompt = ""
	m.record = Record{Started: &e, Events: s.changed}
	s.changed = nil
}

// trimCandidates keeps the candidates of the newest rounds that have at most room tokens together, and
// removes those of older rounds.
func (r *Record) trimCandidates(room int) {
	for i := len(r.Events) - 1; i >= 0; i-- {
		round, ok := r.Events[i].(event.Round)
		if !ok {
			continue
		}
		if room -= len(round.Draft) + 1; room < 0 && hasCandidates(round) {
			r.Events[i] = withoutCandidates(round)
		}
	}
}

// hasCandidates reports whether a round still has candidates to remove.
func hasCandidates(r event.Round) bool {
	has := func(t *event.Token) bool { return t.Target != nil || t.Draft != nil || t.LogProbs != nil }
	for i := range r.Draft {
		if has(&r.Draft[i]) {
			return true
		}
	}
	return r.Commit != nil && has(r.Commit)
}

// withoutCandidates returns a copy of a round without candidates. Others may still use the original.
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

// Package state turns the stream of engine events into everything the screen shows. State.Apply is a reducer: the same
// events in the same order give the same state, so a replay draws what the live run drew.
//
// Text is made safe for the terminal on its way in; what a pane reads from a State may be drawn as it is. Memory is bounded
// however long a chat runs: see the limits in limits.go.
package state

import (
	"specula/engine/event"
	"specula/ui/sanitize"
)

// Phase is what the engine is doing, as far as events tell.
type Phase int

// The phases.
const (
	Starting   Phase = iota // nothing heard yet
	Loading                 // reading models
	Idle                    // ready for a prompt
	Prefilling              // reading the prompt
	Drafting                // a round has begun; its draft is not known yet
	Verifying               // the draft is known, the target's verdict not yet
)

// State is what the events so far amount to. The zero value is not ready; use New.
type State struct {
	Phase   Phase
	Ready   *event.Ready
	Loading []event.Loading // latest progress of each model, in order of appearance
	Prefill *event.Prefill  // latest progress while Prefilling

	Settings event.Settings // in force, changes included
	Messages []*Message     // oldest first
	Dropped  int            // messages left out at the front because there were too many; Turns still has what they said
	// Forgotten counts those of the dropped messages of which not even that is left.
	Forgotten int

	Reply   ReplyInfo
	Pending *Pending // the round in progress, between its draft and its verdict
	Last    *Lane    // the latest finished round of this reply or the one before

	History  []Sample // one a round, oldest first; at most 2×HistoryLimit
	Sequence int      // rounds seen ever; History ends with the one numbered Sequence-1

	Notices []Notice // latest last, at most noticeLimit
	Failure string   // why the latest reply failed; empty if it did not
	// Refused is whether it failed before its first token, as for a prompt that is too long. Its exchange was taken back:
	// kept in the chat, it would make every later prompt fail as well.
	Refused bool

	nextID  int
	removed []*Message    // what RemoveLast removed, until a reply takes its place
	marks   []string      // setting changes that wait for the next round
	changed []event.Event // setting changes that wait for the next reply's record
	replies int           // seen ever
	detail  int           // tokens held in Messages
	inspect int           // tokens seen since candidates were last trimmed
	safe    sanitize.Sanitizer

	earlier      []Turn // what dropped messages said, oldest first
	earlierBytes int
}

// ReplyInfo is about the reply being written, or the latest.
type ReplyInfo struct {
	Number        int // counts the replies that this State has seen, so that those of a stored chat have their own; 0 for none
	PromptTokens  int
	ReusedTokens  int
	ContextTokens int // capacity
	ContextUsed   int // tokens in the target's cache
	Totals        event.Totals
	Speedup       float64 // 0 until a round drafted
	Estimated     bool    // it is not measured against plain rounds of replies yet
	Reason        string  // why it ended; empty while it runs
}

// Pending is a draft that waits for the target.
type Pending struct {
	Round    int
	Gamma    int
	Probe    bool // as in event.Round
	Proposer string
	Tokens   []Token
	DraftMS  float64
	Judged   bool // the verdicts are known, but nothing of it is part of the reply yet; a slow pace shows this moment
}

// Lane is a finished round as the lane draws it.
type Lane struct {
	Round  Round
	Draft  []Token
	Commit *Token // nil when an accepted stop token ended the round
}

// Notice is something the user was told.
type Notice struct {
	Level string // "info", "warning" or "error"
	Text  string
}

// New returns an empty State.
func New() *State { return &State{nextID: 1} }

// Busy reports whether a reply is being written.
func (s *State) Busy() bool { return s.Phase >= Prefilling }

// Apply takes one event. It costs time in proportion to the event, not to the chat.
func (s *State) Apply(e event.Event) {
	switch e := e.(type) {
	case event.Loading:
		s.applyLoading(e)
	case event.Ready:
		s.applyReady(e)
	case event.ReplyStarted:
		s.applyReplyStarted(e)
	case event.Prefill:
		s.applyPrefill(e)
	case event.Drafted:
		s.applyDrafted(e)
	case event.Round:
		s.applyRound(e)
	case event.SettingChanged:
		s.applySetting(e)
		s.note(e)
	case event.ReplyEnded:
		s.applyReplyEnded(e)
	case event.Notice:
		s.notify(e.Level, e.Text)
	case event.Failed:
		s.Failure = sanitize.Line(e.Error)
		if m := s.current(); m != nil {
			m.Failure = s.Failure
		}
		s.note(e)
		s.notify("error", e.Error)
	}
}

func (s *State) applyLoading(e event.Loading) {
	s.Phase = Loading
	e.What, e.Name = sanitize.Line(e.What), sanitize.Line(e.Name)
	for i := range s.Loading {
		if s.Loading[i].What == e.What {
			s.Loading[i] = e
			return
		}
	}
	if len(s.Loading) < loadingLimit {
		s.Loading = append(s.Loading, e)
	}
}

func (s *State) applyReady(e event.Ready) {
	s.Phase, s.Loading = Idle, nil
	for _, text := range []*string{&e.Version, &e.DraftRefused, &e.DraftTranslated, &e.Heads, &e.Device, &e.DeviceWhy, &e.Template, &e.Unspelled} {
		*text = sanitize.Line(*text)
	}
	warnings := make([]event.Warning, 0, min(len(e.Warnings), warningLimit))
	for _, w := range e.Warnings[:cap(warnings)] {
		warnings = append(warnings, event.Warning{About: sanitize.Line(w.About), Text: sanitize.Line(w.Text), Do: sanitize.Line(w.Do)})
	}
	e.Warnings = warnings
	e.Target = safeModel(e.Target)
	proposers := make([]event.Proposer, 0, min(len(e.Proposers), proposerLimit))
	for _, p := range e.Proposers[:cap(proposers)] {
		proposers = append(proposers, event.Proposer{Name: sanitize.Line(p.Name), Refused: sanitize.Line(p.Refused)})
	}
	e.Proposers = proposers
	if e.Auto != nil {
		e.Auto = &event.Auto{Proposer: sanitize.Line(e.Auto.Proposer), Why: sanitize.Line(e.Auto.Why)}
	}
	if e.Draft != nil {
		draft := safeModel(*e.Draft)
		e.Draft = &draft
	}
	s.Ready = &e
}

func safeModel(m event.Model) event.Model {
	for _, text := range []*string{&m.Name, &m.Path, &m.Architecture, &m.WeightType} {
		*text = sanitize.Line(*text)
	}
	return m
}

func (s *State) notify(level, text string) {
	s.Notices = append(s.Notices, Notice{Level: sanitize.Line(level), Text: sanitize.Line(text)})
	if extra := len(s.Notices) - noticeLimit; extra > 0 {
		s.Notices = append(s.Notices[:0], s.Notices[extra:]...)
	}
}

// Package state turns the events of the engine into all that the screen shows. State.Apply is a reducer:
// the same events in the same order give the same state. So a replay draws what the live run drew.
//
// Apply makes text safe for the terminal, so panes may draw the text of a State as it is. The exceptions
// are fields named Raw, and the text in a Record. Memory is limited, however long a chat runs (limits.go).
package state

import (
	"specula/engine/event"
	"specula/ui/sanitize"
)

// Phase is what the engine is doing, according to its events.
type Phase int

// The phases.
const (
	Starting   Phase = iota // no event yet
	Loading                 // reading models
	Idle                    // ready for a prompt
	Prefilling              // a model reads tokens: the prompt, or what a proposer has missed
	Drafting                // a round has begun; its draft is not known yet
	Verifying               // the draft is known, but not the target's verdict
)

// State is the result of the events so far. Use New; the zero value is not usable.
type State struct {
	Phase   Phase
	Ready   *event.Ready
	Loading []event.Loading // latest progress of each model, in order of appearance
	Prefill *event.Prefill  // latest progress while Prefilling

	Settings event.Settings // the current ones, with all changes
	Messages []*Message     // oldest first
	Dropped  int            // old messages that were removed because there were too many; Turns still yields their text
	// Forgotten counts the dropped messages whose text was removed too.
	Forgotten int

	Reply   ReplyInfo
	Pending *Pending // the round in progress, between its draft and its verdict
	Last    *Lane    // the last finished round, of this reply or of an earlier one

	History  []Sample // one per round, oldest first; at most 2×HistoryLimit
	Sequence int      // rounds seen so far; History ends with round Sequence−1

	Lengths []event.Length // the speed expected of each draft length, from the last event that told it
	Warmths []Warmth       // acceptance by temperature, the oldest first

	Notices []Notice // newest last, at most noticeLimit
	Failure string   // why the last reply failed; "" if it did not
	// Refused says that the last reply failed before its first token, for instance because the prompt
	// was too long. Its exchange was then removed from the chat, so that later prompts do not fail, too.
	Refused bool

	nextID  int
	removed []*Message    // what RemoveLast removed, until a new reply replaces it
	marks   []Mark        // setting changes, to be shown at the next round
	changed []event.Event // setting changes, to be recorded with the next reply
	replies int           // seen so far
	detail  int           // tokens held in Messages
	inspect int           // tokens seen since trimCandidates last removed something
	safe    sanitize.Sanitizer

	contextBefore int // ReplyInfo.ContextUsed before the current reply

	earlier      []Turn // text of dropped messages, oldest first
	earlierBytes int    // sum of Turn.bytes over earlier
}

// ReplyInfo describes the current reply, or the last one.
type ReplyInfo struct {
	Number        int // counts the replies of this State, with those of reopened chats; 0: none yet
	PromptTokens  int
	ReusedTokens  int
	ContextTokens int // the most tokens that the context can hold
	ContextUsed   int // tokens in the target's cache
	Totals        event.Totals
	Speedup       float64        // the last speed-up known in this chat; 0 until a round drafted
	Estimated     bool           // Speedup is not yet measured against plain rounds of replies
	Reason        string         // why it ended; "" while it is written
	Settings      event.Settings // at its end; zero while it is written
}

// Pending is a draft that waits for the target.
type Pending struct {
	Round    int
	Gamma    int
	Probe    bool // as in event.Round
	Proposer string
	Tokens   []Token
	DraftMS  float64
}

// Lane is a finished round as the lane draws it.
type Lane struct {
	Round  Round
	Draft  []Token
	Commit *Token // the target's own token; nil if the reply ended within the draft
}

// Notice is a message to the user.
type Notice struct {
	Level string // "info", "warning" or "error"
	Text  string
}

// New returns an empty State.
func New() *State { return &State{nextID: 1} }

// Busy reports whether a reply is being written.
func (s *State) Busy() bool { return s.Phase >= Prefilling }

// SettingsChanged reports whether the settings differ from those at the end of the last reply.
func (s *State) SettingsChanged() bool {
	last := s.Reply.Settings
	return !s.Busy() && last.GammaRule != "" && s.Settings != last
}

// Apply applies one event. Its time grows with the event, not with the chat.
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

// ForgetSpeeds forgets the speeds of an engine, when the chat goes on with another one.
func (s *State) ForgetSpeeds() {
	s.History, s.Lengths = nil, nil
	s.Reply.Speedup, s.Reply.Estimated = 0, false
}

func (s *State) applyReady(e event.Ready) {
	s.Phase, s.Loading = Idle, nil
	for _, text := range []*string{&e.Version, &e.DraftRefused, &e.DraftTranslated, &e.Heads, &e.Device, &e.DeviceWhy, &e.DeviceDetail, &e.Template, &e.Unspelled} {
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
		proposers = append(proposers, event.Proposer{Name: sanitize.Line(p.Name), Refused: sanitize.Line(p.Refused), Words: sanitize.Line(p.Words)})
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
	for _, text := range []*string{&m.Name, &m.Path, &m.Server, &m.Architecture, &m.WeightType} {
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

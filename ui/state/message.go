package state

import (
	"slices"

	"specula/engine/event"
)

// Message is one turn of the chat.
type Message struct {
	ID   int    // never reused
	Role string // "user" or "assistant"
	// Raw is the text as it was typed or generated, for storing and copying; of a reply it is complete when Done.
	Raw string
	// Text is Raw made safe. A reply is drawn from its Tokens while it has them, otherwise from Text.
	Text   string
	Tokens []Token // in reading order, rejected and discarded ones at their place
	Rounds []Round
	Reply  int // number of the reply; 0 for a user message and for one from a stored chat
	Done   bool
	Reason string // why the reply ended
	// Settings are those the reply began with, with the seed it was drawn with; safe.
	Settings event.Settings
	Failure  string // the error it ended with
	Totals   event.Totals
	// Speculated is whether any round had a draft; without one there is nothing to tell apart by colour.
	Speculated bool
	// Revision grows with every change of what is drawn, except for tokens appended at the end.
	Revision int

	record Record
}

// Token is one drafted or drawn token of a reply.
type Token struct {
	ID       int32
	Text     string // safe; empty when it completed nothing
	Fate     event.Verdict
	Round    int // index into Message.Rounds
	Position int // in the draft, from 0; -1 for a token the target drew
	Stop     bool
	// As in event.Token.
	P, Q, U, Bound *float64
	// Logarithms of the target's probabilities by its raw scores, when they were asked for.
	LogProb  *float64
	LogProbs []event.Candidate
	// The best candidates of both models, when they were collected and the token is among the newest.
	Target, Draft []event.Candidate
}

// Committed reports whether the token is part of the reply.
func (t *Token) Committed() bool { return t.Fate.Committed() }

// Ref names a token of a message. The zero Ref names none.
type Ref struct {
	Message int // Message.ID
	Token   int // index into Message.Tokens
}

// Message returns the message with this ID, or nil.
func (s *State) Message(id int) *Message {
	if len(s.Messages) == 0 {
		return nil
	}
	// IDs ascend, without gaps except where messages were removed at the end.
	lo, hi := 0, len(s.Messages)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if s.Messages[mid].ID < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if s.Messages[lo].ID == id {
		return s.Messages[lo]
	}
	return nil
}

// Token returns the token that ref names, and the round it belongs to; nil when it is gone.
func (s *State) Token(ref Ref) (*Token, *Round) {
	m := s.Message(ref.Message)
	if m == nil || ref.Token < 0 || ref.Token >= len(m.Tokens) {
		return nil, nil
	}
	t := &m.Tokens[ref.Token]
	if t.Round < 0 || t.Round >= len(m.Rounds) {
		return t, nil
	}
	return t, &m.Rounds[t.Round]
}

// Newest returns the last committed token of the chat, or the zero Ref.
func (s *State) Newest() Ref {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if n := len(s.Messages[i].Tokens); n > 0 {
			return Ref{Message: s.Messages[i].ID, Token: n - 1}
		}
	}
	return Ref{}
}

// Step returns the token next to ref, forward or back, across messages. With rejected false it passes over tokens that are
// not part of the reply. At the end of the chat it returns ref.
func (s *State) Step(ref Ref, forward, rejected bool) Ref {
	at := s.indexOf(ref.Message)
	if at < 0 {
		return s.Newest()
	}
	dir := -1
	if forward {
		dir = 1
	}
	for i, k := at, ref.Token+dir; ; k += dir {
		m := s.Messages[i]
		if k < 0 || k >= len(m.Tokens) {
			if i += dir; i < 0 || i >= len(s.Messages) {
				return ref
			}
			k = -1
			if !forward {
				k = len(s.Messages[i].Tokens)
			}
			continue
		}
		if t := &m.Tokens[k]; t.Text != "" && (rejected || t.Committed()) {
			return Ref{Message: m.ID, Token: k}
		}
	}
}

func (s *State) indexOf(id int) int {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if s.Messages[i].ID == id {
			return i
		}
	}
	return -1
}

// RemoveLast removes the newest exchange, the user's message and what came after it, before it is edited or regenerated.
// It returns the user's raw text and whether there was one. Should the reply that is to take its place be refused, the
// exchange comes back.
func (s *State) RemoveLast() (raw string, ok bool) {
	s.removed = s.cutLast()
	if len(s.removed) > 0 && s.removed[0].Role == "user" {
		return s.removed[0].Raw, true
	}
	return "", false
}

// cutLast takes the newest exchange out of the chat.
func (s *State) cutLast() []*Message {
	i := max(len(s.Messages)-1, 0)
	for i > 0 && s.Messages[i].Role != "user" {
		i--
	}
	cut := slices.Clone(s.Messages[i:])
	for _, m := range cut {
		s.detail -= len(m.Tokens)
	}
	s.Messages = slices.Delete(s.Messages, i, len(s.Messages))
	return cut
}

// restoreRemoved puts back what RemoveLast removed.
func (s *State) restoreRemoved() {
	for _, m := range s.removed {
		s.detail += len(m.Tokens)
	}
	s.Messages = append(s.Messages, s.removed...)
	s.removed = nil
}

// ClearChat begins a new chat; settings and models stay.
func (s *State) ClearChat() {
	s.Messages, s.Dropped, s.detail = nil, 0, 0
	s.earlier, s.earlierBytes, s.Forgotten = nil, 0, 0
	s.removed = nil
	s.History = nil // graphs belong to the chat they were drawn from
	s.Pending, s.Last, s.Failure, s.Refused = nil, nil, "", false
	s.Reply = ReplyInfo{ContextTokens: s.Reply.ContextTokens}
}

func (s *State) add(m *Message) *Message {
	m.ID = s.nextID
	s.nextID++
	s.Messages = append(s.Messages, m)
	s.trim()
	return m
}

// current returns the reply being written, or nil.
func (s *State) current() *Message {
	if n := len(s.Messages); n > 0 {
		if m := s.Messages[n-1]; m.Role == "assistant" && !m.Done {
			return m
		}
	}
	return nil
}

package state

import (
	"slices"

	"specula/engine/event"
)

// Message is one turn of the chat.
type Message struct {
	ID   int    // never reused
	Role string // "user" or "assistant"
	// Raw is the text as typed or generated, for saving and copying. For a reply it is set when Done.
	Raw string
	// Text is Raw made safe. It is shown if there are no Tokens.
	Text   string
	Tokens []Token // in reading order, with rejected and discarded tokens
	Rounds []Round
	Reply  int // number of the reply; 0 for a user's message and for a saved reply without events
	Done   bool
	Reason string // why the reply ended
	// Settings are those at the start of the reply, with the seed that was used; safe.
	Settings event.Settings
	Failure  string // the error that ended the reply; "" if there was none
	Totals   event.Totals
	// Speculated says that some round had a draft. Otherwise tokens need no colours.
	Speculated bool
	// Revision grows with every change that the screen must show, except when tokens are appended.
	Revision int

	record Record
	bare   bool // its tokens have no candidates any more (Target, Draft and LogProbs are nil), to save memory
}

// Token is one token of a reply: of a draft, or the target's own.
type Token struct {
	ID       int32
	Text     string // safe; "" if the token completed no character
	Fate     event.Verdict
	Round    int    // index into Message.Rounds
	Position int    // in the draft, from 0; -1 for a token that the target drew
	Stop     bool   // a stop token, which has no text in the reply
	Name     string // of a stop token, such as "<|im_end|>", safe; "" for others
	Untold   bool   // a token that a server drafted and refused without saying which it was
	Thought  bool   // part of what the model thinks before it answers
	// The numbers of the token's test, as in event.Token; nil if unknown.
	P, Q, U, Bound *float64
	// Log-probabilities under the target's raw scores, if the user asked for them.
	LogProb  *float64
	LogProbs []event.Candidate
	// The best candidates of both models, if they were collected and the token is among the newest.
	Target, Draft []event.Candidate
}

// Spelling returns the token's text, or the name of a stop token.
func (t *Token) Spelling() string {
	if t.Stop {
		return t.Name
	}
	return t.Text
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
	// Messages lie in ascending order of their IDs.
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

// Token returns the token that ref names and its round; nil for one that does not exist.
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

// Newest returns the last token of the chat, whatever its fate, or the zero Ref if there is none.
func (s *State) Newest() Ref {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if n := len(s.Messages[i].Tokens); n > 0 {
			return Ref{Message: s.Messages[i].ID, Token: n - 1}
		}
	}
	return Ref{}
}

// Step returns the nearest token that has text: after ref or, if forward is false, before it. The token may
// lie in another message. If rejected is false, tokens that are not part of a reply are skipped. If there is
// no such token in this direction, Step returns ref. If ref's message is gone, it returns Newest.
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

// RemoveLast removes the newest exchange, the user's message and the reply, so that it can be edited or
// written again. It returns the user's raw text; ok is false if there is none. If the next reply is
// refused, the exchange is restored.
func (s *State) RemoveLast() (raw string, ok bool) {
	s.removed = s.cutLast()
	if len(s.removed) > 0 && s.removed[0].Role == "user" {
		return s.removed[0].Raw, true
	}
	return "", false
}

// cutLast removes the newest exchange and returns its messages.
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

// restoreRemoved appends what RemoveLast removed.
func (s *State) restoreRemoved() {
	for _, m := range s.removed {
		s.detail += len(m.Tokens)
	}
	s.Messages = append(s.Messages, s.removed...)
	s.removed = nil
}

// ClearChat begins a new chat. Settings and models stay.
func (s *State) ClearChat() {
	s.Messages, s.Dropped, s.detail = nil, 0, 0
	s.earlier, s.earlierBytes, s.Forgotten = nil, 0, 0
	s.removed = nil
	s.History = nil // the graphs belong to the old chat
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

package state

import (
	"cmp"
	"strings"

	"specula/engine/event"
	"specula/ui/sanitize"
)

func (s *State) applyReplyStarted(e event.ReplyStarted) {
	s.finish("interrupted", event.Totals{}) // an incomplete recording may lack the end of the previous reply
	s.Phase, s.Prefill, s.Failure, s.Refused = Prefilling, nil, "", false
	s.Pending = nil
	s.Settings = safeSettings(e.Settings)
	s.replies++
	s.contextBefore = s.Reply.ContextUsed
	s.Reply = ReplyInfo{
		Number: s.replies, PromptTokens: e.PromptTokens, ReusedTokens: e.ReusedTokens,
		ContextTokens: e.ContextTokens, ContextUsed: e.PromptTokens,
		Speedup: s.Reply.Speedup, Estimated: s.Reply.Estimated,
	}
	s.safe = sanitize.Sanitizer{}
	s.add(&Message{Role: "user", Raw: e.Prompt, Text: sanitize.Text(e.Prompt), Done: true})
	m := s.add(&Message{Role: "assistant", Reply: e.Reply, Settings: s.Settings})
	s.begin(m, e)
}

// applyPrefill notes how far a model has read. When it has read everything, a round follows, or another
// model reads.
func (s *State) applyPrefill(e event.Prefill) {
	if e.Done >= e.Total {
		s.Phase, s.Prefill = Drafting, nil
		return
	}
	e.Model = sanitize.Line(e.Model)
	s.Phase, s.Prefill = Prefilling, &e
}

func (s *State) applyDrafted(e event.Drafted) {
	s.Phase, s.Prefill = Verifying, nil
	p := &Pending{Round: e.Round, Gamma: e.Gamma, Probe: e.Probe, Proposer: sanitize.Line(e.Proposer), DraftMS: e.DraftMS}
	p.Tokens = make([]Token, 0, len(e.Tokens))
	for i := range e.Tokens {
		p.Tokens = append(p.Tokens, s.token(&e.Tokens[i], 0, i))
	}
	s.Pending = p
}

func (s *State) applyRound(e event.Round) {
	s.Phase, s.Prefill, s.Pending = Drafting, nil, nil
	m := s.current()
	if m == nil { // a recording that begins in the middle of a reply
		s.safe = sanitize.Sanitizer{}
		m = s.add(&Message{Role: "assistant"})
	}
	round := newRound(&e)
	round.Marks, s.marks = s.marks, nil
	m.Rounds = append(m.Rounds, round)
	m.Speculated = m.Speculated || len(e.Draft) > 0

	lane := &Lane{Round: round, Draft: make([]Token, 0, len(e.Draft))}
	index := len(m.Rounds) - 1
	before := len(m.Tokens)
	for i := range e.Draft {
		t := s.token(&e.Draft[i], index, i)
		lane.Draft = append(lane.Draft, t)
		m.Tokens = append(m.Tokens, s.streamed(t, &e.Draft[i]))
	}
	if e.Commit != nil {
		t := s.token(e.Commit, index, -1)
		lane.Commit = &t
		m.Tokens = append(m.Tokens, s.streamed(t, e.Commit))
	}
	s.Last = lane
	s.detail += len(m.Tokens) - before
	s.trimCandidates(len(m.Tokens) - before)
	s.count(&e, round.Marks)
	s.note(e)
}

// token returns a safe copy of an event's token. Its text is made from the token's bytes, not from the text
// that it completed in the reply, which may be empty or longer than the token.
func (s *State) token(t *event.Token, round, position int) Token {
	text, name := cmp.Or(string(t.Raw), t.Text), ""
	if t.Stop {
		text, name = "", cmp.Or(t.Name, unnamed)
	}
	return Token{
		ID: t.ID, Text: sanitize.Text(text), Name: sanitize.Text(name), Fate: known(t.Verdict), Round: round, Position: position, Stop: t.Stop, Untold: t.Untold, Thought: t.Thought,
		P: t.P, Q: t.Q, U: t.U, Bound: t.Bound, LogProb: t.LogProb, LogProbs: safeCandidates(t.LogProbs), Target: safeCandidates(t.Target), Draft: safeCandidates(t.Draft),
	}
}

// known returns v if it is a verdict, otherwise "": a recording may contain anything.
func known(v event.Verdict) event.Verdict {
	switch v {
	case event.Accepted, event.Rejected, event.Discarded, event.Resampled, event.Bonus, event.Plain:
		return v
	}
	return ""
}

// unnamed is the name of a stop token in recordings of versions that did not tell its name.
const unnamed = "<end>"

// streamed gives a committed token the text that it completed in the reply, made safe as one stream: an
// escape sequence or a character may span tokens.
func (s *State) streamed(t Token, e *event.Token) Token {
	if t.Committed() {
		t.Text = s.safe.Write(e.Text)
	}
	return t
}

func safeCandidates(in []event.Candidate) []event.Candidate {
	if len(in) == 0 {
		return nil
	}
	out := make([]event.Candidate, len(in))
	for i, c := range in {
		c.Text = sanitize.Text(c.Text)
		out[i] = c
	}
	return out
}

func (s *State) applyReplyEnded(e event.ReplyEnded) {
	tail := s.safe.Write(e.Tail) + s.safe.Flush()
	m := s.current()
	if m != nil {
		m.record.Tail, m.record.Drafts = e.Tail, e.Drafts
		s.applyServed(m, e.Served)
		if n := len(m.Tokens); n > 0 && tail != "" {
			s.appendTail(m, tail)
		}
		m.Raw, m.Text = e.Text, sanitize.Text(e.Text)
	}
	s.Reply.Totals, s.Reply.Settings = s.ownTotals(e.Totals), s.Settings
	s.finish(sanitize.Line(e.Reason), s.Reply.Totals)
	s.Phase, s.Prefill, s.Pending = Idle, nil, nil
	s.Refused = m != nil && e.Reason == "error" && len(m.Rounds) == 0 && m.Raw == ""
	if s.Refused {
		s.cutLast()
		s.Reply.ContextUsed = s.contextBefore
	}
	if s.Refused || m == nil {
		s.restoreRemoved()
	}
	s.removed = nil
}

// ownTotals returns t, but with the counts per position of this State in place of those in t. Both are
// equal, unless a recording is wrong.
func (s *State) ownTotals(t event.Totals) event.Totals {
	t.PositionTested, t.PositionKept = s.Reply.Totals.PositionTested, s.Reply.Totals.PositionKept
	return t
}

// appendTail appends tail, text that was held back, to the last committed token of the reply.
func (s *State) appendTail(m *Message, tail string) {
	for k := len(m.Tokens) - 1; k >= 0; k-- {
		if m.Tokens[k].Committed() {
			m.Tokens[k].Text += tail
			m.Revision++
			return
		}
	}
}

// finish ends the current reply, if there is one.
func (s *State) finish(reason string, totals event.Totals) {
	m := s.current()
	if m == nil {
		return
	}
	if m.Text == "" {
		var text strings.Builder
		for i := range m.Tokens {
			if m.Tokens[i].Committed() {
				text.WriteString(m.Tokens[i].Text)
			}
		}
		m.Text = text.String()
		m.Raw = m.Text
	}
	m.Done, m.Reason, m.Totals = true, reason, totals
	s.Reply.Reason = reason
	s.trim()
}

package state

import "specula/engine/event"

// applyServed completes the rounds of a reply by what the server told only at its end: how many tokens it
// had drafted.
func (s *State) applyServed(m *Message, served event.Served) {
	if m == nil || len(served) == 0 {
		return
	}
	changed := map[int]*event.Round{} // by index into Message.Rounds
	at := -1
	for i, e := range m.record.Events {
		r, ok := e.(event.Round)
		if !ok {
			continue
		}
		at++
		if at >= len(m.Rounds) || !served.Complete(&r) {
			continue
		}
		m.record.Events[i], changed[at] = r, &r
		s.completeRound(m, at, &r)
	}
	s.completeTokens(m, changed)
	m.Revision++
}

// completeRound copies the counts of r, a completed round, into the message, the history and the totals.
// at is the round's index in the message.
func (s *State) completeRound(m *Message, at int, r *event.Round) {
	marks := m.Rounds[at].Marks
	m.Rounds[at] = newRound(r)
	m.Rounds[at].Marks = marks
	m.Speculated = m.Speculated || len(r.Draft) > 0
	if i := len(s.History) - len(m.Rounds) + at; i >= 0 && s.History[i].Reply == s.Reply.Number {
		h := &s.History[i]
		h.Gamma, h.Drafted, h.Tested, h.Accepted = r.Gamma, len(r.Draft), r.Tested, r.Accepted
	}
	totals := &s.Reply.Totals
	totals.PositionTested, totals.PositionKept = r.CountPositions(totals.PositionTested, totals.PositionKept)
}

// completeTokens adds the refused tokens of the completed rounds (changed) as blanks, and gives the server's
// own token its fate.
func (s *State) completeTokens(m *Message, changed map[int]*event.Round) {
	tokens := make([]Token, 0, len(m.Tokens))
	put := 0 // number of draft tokens of the round so far
	for i, t := range m.Tokens {
		if i == 0 || m.Tokens[i-1].Round != t.Round {
			put = 0
		}
		r := changed[t.Round]
		if t.Position >= 0 {
			if r != nil && put < len(r.Draft) {
				t.Fate = known(r.Draft[put].Verdict) // in merged rounds, some of these tokens are the target's own
			}
			put++
		} else if r != nil {
			for ; put < len(r.Draft); put++ {
				tokens = append(tokens, s.token(&r.Draft[put], t.Round, put))
			}
			if r.Commit != nil {
				t.Fate = known(r.Commit.Verdict)
			}
		}
		tokens = append(tokens, t)
	}
	s.detail += len(tokens) - len(m.Tokens)
	m.Tokens = tokens
	if s.Last != nil && len(m.Rounds) > 0 {
		at := len(m.Rounds) - 1
		if r := changed[at]; r != nil {
			s.Last.Round, s.Last.Draft = m.Rounds[at], nil
			for i := range tokens {
				if t := tokens[i]; t.Round == at && t.Position >= 0 {
					s.Last.Draft = append(s.Last.Draft, t)
				} else if t.Round == at {
					s.Last.Commit = &t
				}
			}
		}
	}
}

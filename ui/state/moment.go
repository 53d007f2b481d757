package state

import (
	"slices"
	"sort"

	"specula/engine/event"
)

// Moment is a point in the past: a finished round as it was when only a part of it was known. The zero
// Moment is the present.
type Moment struct {
	Message int // Message.ID
	Round   int // index into Message.Rounds
	// Steps says how much of the round is known. At 0 it is the draft. Each step adds a verdict, and the
	// last one adds the token that the target drew.
	Steps int
}

// Past is what the screen shows at a Moment.
type Past struct {
	Round  Round
	Draft  []Token // tokens not judged yet at the Moment have no verdict, p and u
	Commit *Token  // nil before the target's token is known
	Last   Ref     // the token that the last step was about; before the first verdict, the first token
	// Begin, Judged and End are indices into Message.Tokens. The round begins at Begin. At the Moment, its
	// tokens before Judged have a verdict, and its tokens before End are known.
	Begin, Judged, End int

	tested, steps int // how many verdicts and steps the whole round has
}

// Past returns what is known at a Moment; ok is false if at is the present or its round is no longer kept.
func (s *State) Past(at Moment) (p Past, ok bool) {
	m := s.Message(at.Message)
	if m == nil || at.Round < 0 || at.Round >= len(m.Rounds) {
		return p, false
	}
	of := func(round int) int {
		return sort.Search(len(m.Tokens), func(i int) bool { return m.Tokens[i].Round >= round })
	}
	begin, end := of(at.Round), of(at.Round+1)
	if begin == end {
		return p, false
	}
	p = Past{Round: m.Rounds[at.Round], Begin: begin, Judged: end, End: end}
	p.Draft = slices.Clone(m.Tokens[begin:end])
	if last := &p.Draft[len(p.Draft)-1]; last.Position < 0 {
		p.Commit, p.Draft = last, p.Draft[:len(p.Draft)-1]
	}
	for i := range p.Draft {
		if f := p.Draft[i].Fate; f == event.Accepted || f == event.Rejected {
			p.tested++
		}
	}
	p.steps = p.tested
	if p.Commit != nil {
		p.steps++
	}
	steps := min(max(at.Steps, 0), p.steps)
	p.Last = Ref{Message: at.Message, Token: begin + max(steps-1, 0)}
	switch {
	case steps > p.tested:
		p.Last.Token = end - 1
		return p, true
	case p.Commit != nil:
		p.Commit, p.End, p.Judged = nil, end-1, end-1
	}
	if steps < p.tested {
		p.Judged = begin + steps
		for i := steps; i < len(p.Draft); i++ {
			t := &p.Draft[i]
			t.Fate, t.P, t.U, t.Bound, t.Target = "", nil, nil, nil, nil
		}
	}
	return p, true
}

// MomentOf returns the moment at which a token becomes known; the zero Moment if the token is not kept.
func (s *State) MomentOf(ref Ref) Moment {
	t, _ := s.Token(ref)
	if t == nil {
		return Moment{}
	}
	at := Moment{Message: ref.Message, Round: t.Round}
	p, ok := s.Past(at)
	if !ok {
		return Moment{}
	}
	at.Steps = min(t.Position+1, p.tested)
	if t.Position < 0 {
		at.Steps = p.steps
	}
	return at
}

// RoundOf returns the last moment of the round of a token; the zero Moment if the token is not kept.
func (s *State) RoundOf(ref Ref) Moment {
	at := s.MomentOf(ref)
	if m := s.Message(at.Message); m != nil && at != (Moment{}) {
		return s.last(m, at.Round)
	}
	return Moment{}
}

// Has reports whether a token belongs to the round and is known at the Moment.
func (p *Past) Has(ref Ref) bool {
	return ref.Message == p.Last.Message && ref.Token >= p.Begin && ref.Token < p.End
}

// newest returns the last moment of the newest round that is kept; the zero Moment if there is none.
func (s *State) newest() Moment {
	for i := len(s.Messages) - 1; i >= 0; i-- {
		if m := s.Messages[i]; len(m.Rounds) > 0 && len(m.Tokens) > 0 {
			return s.last(m, len(m.Rounds)-1)
		}
	}
	return Moment{}
}

// last returns the last moment of a round; the zero Moment if the round has no token.
func (s *State) last(m *Message, round int) Moment {
	at := Moment{Message: m.ID, Round: round}
	p, ok := s.Past(at)
	if !ok {
		return Moment{}
	}
	at.Steps = p.steps
	return at
}

// Back returns the moment before at; at itself if there is none.
func (s *State) Back(at Moment) Moment {
	if at == (Moment{}) {
		if at = s.newest(); s.Pending != nil || at == (Moment{}) {
			return at // the present has a draft that is newer than the last round
		}
	}
	first := 0
	if p, ok := s.Past(at); ok && len(p.Draft) == 0 {
		first = 1 // a plain round has no draft to show before its token
	}
	if at.Steps > first {
		at.Steps--
		return at
	}
	for i, round := s.indexOf(at.Message), at.Round-1; i >= 0; i-- {
		m := s.Messages[i]
		if i < s.indexOf(at.Message) {
			round = len(m.Rounds) - 1
		}
		for ; round >= 0; round-- {
			if before := s.last(m, round); before != (Moment{}) {
				return before
			}
		}
	}
	return at
}

// Forth returns the moment after at; the zero Moment if that is the present.
func (s *State) Forth(at Moment) Moment {
	p, ok := s.Past(at)
	if !ok {
		return Moment{}
	}
	if at.Steps++; at.Steps > p.steps {
		at = s.nextRound(at)
	}
	if s.Pending == nil && at == s.newest() {
		return Moment{}
	}
	return at
}

// nextRound returns the first moment of the round after at's round; the zero Moment after the last round.
func (s *State) nextRound(at Moment) Moment {
	round := at.Round + 1
	for i := s.indexOf(at.Message); i >= 0 && i < len(s.Messages); i++ {
		m := s.Messages[i]
		for ; round < len(m.Rounds); round++ {
			next := Moment{Message: m.ID, Round: round}
			if p, ok := s.Past(next); ok {
				if len(p.Draft) == 0 {
					next.Steps = 1
				}
				return next
			}
		}
		round = 0
	}
	return Moment{}
}

// Judging returns the moment at which the first draft token of the newest round is judged. It returns the
// zero Moment if no draft token was judged, or if the round has no further step.
func (s *State) Judging() Moment {
	at := s.newest()
	if p, ok := s.Past(at); !ok || p.tested == 0 || p.steps == 1 {
		return Moment{}
	}
	at.Steps = 1
	return at
}

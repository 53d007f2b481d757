package event

import (
	"fmt"
	"slices"
)

// Blanks returns a token without id for each draft token of a server that is not in the reply. accepted is
// how many draft tokens are in the reply. The first blank was refused, unless the reply ended before it.
func (s *ServerRound) Blanks(accepted int) []Token {
	var blanks []Token
	for i := accepted; i < s.Drafted; i++ {
		t := Token{Untold: true, Text: "_", Verdict: Discarded}
		if i == accepted && s.Kept <= accepted {
			t.Text, t.Verdict = fmt.Sprintf("[%d]", s.Drafted-accepted), Rejected
		}
		blanks = append(blanks, t)
	}
	return blanks
}

// Served is what a server told of its rounds when the reply had ended, sorted by the field Round.
type Served []ServerRound

// Complete adds to a round what Served tells of it. It returns false if it adds nothing: if Served does not
// tell of this round, if the counts are known already, or if they cannot be true.
func (s Served) Complete(r *Round) bool {
	i, found := slices.BinarySearchFunc(s, r.Index, func(t ServerRound, index int) int { return t.Round - index })
	if !found || r.Server == nil || r.Server.Drafted != Untold || s[i].Drafted < len(r.Draft) || !s[i].possible() {
		return false
	}
	r.complete(s[i])
	return true
}

// MostDrafted is the longest draft of one round, in tokens, that a server or a recording may claim.
const MostDrafted = 1024

// possible reports whether the counts can be true.
func (s *ServerRound) possible() bool {
	return s.Drafted <= MostDrafted*max(1, s.Merged) && s.Merged <= max(1, len(s.Parts)) &&
		!slices.ContainsFunc(s.Parts, func(kept int) bool { return kept < 0 || kept > MostDrafted })
}

func (r *Round) complete(s ServerRound) {
	r.Server = &s
	if s.Drafted == 0 {
		return
	}
	if s.Merged > 1 {
		r.completeMerged(&s)
		return
	}
	blanks := s.Blanks(len(r.Draft))
	r.Gamma, r.Proposer, r.Accepted = s.Drafted, "server", len(r.Draft)
	r.Tested = r.Accepted
	verdict := Bonus
	if len(blanks) > 0 && blanks[0].Verdict == Rejected {
		r.Tested++
		verdict = Resampled
	}
	r.Draft = append(r.Draft[:len(r.Draft):len(r.Draft)], blanks...)
	if r.Commit != nil {
		own := *r.Commit
		own.Verdict = verdict
		r.Commit = &own
	}
}

// completeMerged adds the counts of several rounds whose tokens arrived together. Each round ends with a
// token of the target's own. Refused tokens are not shown: only their total number is known.
func (r *Round) completeMerged(s *ServerRound) {
	draft := slices.Clone(r.Draft)
	own := 0
	for _, kept := range s.Parts {
		if own += kept; own < len(draft) {
			draft[own].Verdict = Bonus
		}
		own++
	}
	r.Gamma, r.Proposer, r.Draft, r.Accepted = s.Drafted, "server", draft, 0
	for i := range draft {
		if draft[i].Verdict == Accepted {
			r.Accepted++
		}
	}
	r.Tested = r.Accepted
}

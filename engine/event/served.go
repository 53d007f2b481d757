package event

import "fmt"

// Blanks are the tokens of a server's draft that it did not keep. The first one of them was refused,
// unless the reply ended before.
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

// Complete adds to a round what its server told of it later.
func (r *Round) Complete(s ServerRound) {
	if r.Server == nil || r.Server.Drafted != Untold || s.Drafted < len(r.Draft) {
		return
	}
	r.Server = &s
	if s.Drafted == 0 {
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

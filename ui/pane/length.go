package pane

import "specula/ui/state"

// length is the draft length γ in force, as a number for people.
type length struct {
	gamma int
	rule  string // who chooses it
	why   string
	off   string // why speculation does not pay at present; empty when it does
	probe bool   // this round has another length, to measure what that costs
}

// lengthNow says which γ is in force. A probe has its own γ for one round, often 0; the γ in force stays what it was.
func lengthNow(s *state.State) length {
	now := length{gamma: s.Settings.Gamma, rule: s.Settings.GammaRule}
	if l := s.Last; l != nil && tellsLength(s, l) {
		now.rule, now.why, now.off = l.Round.GammaRule, l.Round.GammaWhy, l.Round.GammaOff
		now.probe = l.Round.Probe && s.Busy()
		now.gamma = lastLength(s, now.gamma)
	}
	if p := s.Pending; p != nil {
		if now.probe || p.Probe { // the reason is that of the round before
			now.why, now.off = "", ""
		}
		if now.probe = p.Probe; !p.Probe {
			now.gamma = p.Gamma
		}
	}
	return now
}

// tellsLength reports whether the last round says what γ is now. In a reply it does from the first round on. Between replies
// it does as long as the rule that chose its γ is in force; a γ or a rule that was set since shows at once.
func tellsLength(s *state.State, l *state.Lane) bool {
	if s.Busy() {
		return lastReply(s) == s.Reply.Number
	}
	return s.Settings.GammaRule == l.Round.GammaRule && s.Settings.GammaRule != "fixed"
}

// lastReply is the number of the reply that the newest round belongs to.
func lastReply(s *state.State) int {
	if n := len(s.History); n > 0 {
		return s.History[n-1].Reply
	}
	return -1
}

// lastLength is γ of the newest round of this reply that was no probe, or set when there is none.
func lastLength(s *state.State, set int) int {
	for i := len(s.History) - 1; i >= 0 && s.History[i].Reply == s.Reply.Number; i-- {
		if !s.History[i].Probe {
			return s.History[i].Gamma
		}
	}
	return set
}

// speculationOff reports whether it was switched off. Settings without a rule are those of a stream that has not told any yet.
func speculationOff(s *state.State) bool {
	return !s.Settings.Speculate && s.Settings.GammaRule != ""
}

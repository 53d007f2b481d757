package pane

import "specula/ui/state"

// length is the current draft length γ, as the screen shows it.
type length struct {
	gamma int
	rule  string // the rule that chooses γ
	why   string // the rule's reason for this γ
	off   string // why speculation does not pay now; "" if it does, or if that is not known
	probe bool   // this round has another γ, in order to measure
}

// lengthNow returns the current γ. Two kinds of round have another γ, which does not count: a probe, often
// with γ 0, and the last rounds of a reply, which draft no more than the reply has room for.
func lengthNow(s *state.State) length {
	now := length{gamma: s.Settings.Gamma, rule: s.Settings.GammaRule}
	if l := s.Last; l != nil && tellsLength(s, l) {
		now.rule, now.why, now.off = l.Round.GammaRule, l.Round.GammaWhy, l.Round.GammaOff
		now.probe = l.Round.Probe && s.Busy()
		if now.gamma = lastLength(s, now.gamma); !l.Round.Probe && now.gamma != l.Round.Gamma {
			now.why = "" // the reason is about the round's γ, which the end of the reply cut short
		}
	}
	if p := s.Pending; p != nil {
		if now.probe || p.Probe || now.rule != s.Settings.GammaRule { // the known reason is that of another round
			now.why, now.off = "", ""
		}
		now.rule = s.Settings.GammaRule
		if now.probe = p.Probe; !p.Probe {
			now.gamma = p.Gamma
		}
	}
	return now
}

// tellsLength reports whether the current γ is that of the last round, not of the settings. During a reply
// it is, from the first round on. Between replies it is if the rule is not fixed and has not changed.
func tellsLength(s *state.State, l *state.Lane) bool {
	if s.Busy() {
		return lastReply(s) == s.Reply.Number
	}
	return s.Settings.GammaRule == l.Round.GammaRule && s.Settings.GammaRule != "fixed"
}

// lastReply returns the number of the reply of the newest round; -1 without a round.
func lastReply(s *state.State) int {
	if n := len(s.History); n > 0 {
		return s.History[n-1].Reply
	}
	return -1
}

// lastLength returns the γ of the newest round of this reply whose γ the rule chose. If there is none, it
// returns the γ of the newest round of this reply that is not a probe. If there is none of these either, it
// returns set, the γ of the settings.
func lastLength(s *state.State, set int) int {
	other := -1
	for i := len(s.History) - 1; i >= 0 && s.History[i].Reply == s.Reply.Number; i-- {
		switch h := &s.History[i]; {
		case h.Probe:
		case !h.Overruled:
			return h.Gamma
		case other < 0:
			other = h.Gamma
		}
	}
	if other >= 0 {
		return other
	}
	return set
}

// speculationOff reports whether the user switched speculation off. Settings without a rule are not
// known yet.
func speculationOff(s *state.State) bool {
	return !s.Settings.Speculate && s.Settings.GammaRule != ""
}

package state

// basis holds the settings with which speeds were measured.
type basis struct {
	drafter, rule, acceptance string
	gamma                     int // set only if γ is fixed
	temperature               float64
}

// basisNow returns the basis of the settings in force.
func (s *State) basisNow() basis {
	v := s.Settings
	b := basis{drafter: s.Drafter(), rule: v.GammaRule, acceptance: v.Acceptance, temperature: v.Temperature}
	if v.GammaRule == "fixed" {
		b.gamma = v.Gamma
	}
	return b
}

// Change says that the speeds on the screen were measured, wholly or in part, with other settings than those
// in force.
type Change struct {
	Proposer    string  // the proposer before the change; "" if it is the same
	Gamma       int     // the fixed γ before the change; 0 if it is the same, or was not fixed
	Temperature float64 // the temperature before the change; negative if it is the same
	Rounds      int     // rounds that asked for a draft since the change; 0: all speeds are from before it
}

// Changed returns the last change of settings that speeds depend on; ok is false if there was none, or if
// as many rounds as settled says have followed it. After a change of proposer one round is enough, because
// the speeds of two proposers are never mixed.
func (s *State) Changed() (c Change, ok bool) {
	now := s.basisNow()
	var was basis
	for i := len(s.History) - 1; i >= 0 && c.Rounds < settled && !ok; i-- {
		switch h := &s.History[i]; {
		case h.Gamma == 0:
		case h.basis == now:
			c.Rounds++
		default:
			was, ok = h.basis, true
		}
	}
	if !ok || c.Rounds > 0 && was.drafter != now.drafter {
		return Change{}, false
	}
	c.Temperature = -1
	if was.drafter != now.drafter {
		c.Proposer = was.drafter
	}
	if was.gamma != now.gamma {
		c.Gamma = was.gamma
	}
	if was.temperature != now.temperature {
		c.Temperature = was.temperature
	}
	return c, true
}

// settled is the number of rounds after which a change is no longer mentioned. The rounds before
// the change then have only rateShare^settled = 0.44 of their weight in Rate.
const settled = 16

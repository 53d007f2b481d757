package state

// basis is what the figures of speed were measured with.
type basis struct {
	drafter, rule, acceptance string
	gamma                     int // only if it is fixed
	temperature               float64
}

// basisNow returns what the settings in force would be measured with.
func (s *State) basisNow() basis {
	v := s.Settings
	b := basis{drafter: s.Drafter(), rule: v.GammaRule, acceptance: v.Acceptance, temperature: v.Temperature}
	if v.GammaRule == "fixed" {
		b.gamma = v.Gamma
	}
	return b
}

// Change says that the figures of speed are of other settings than those in force, wholly or in part.
type Change struct {
	Proposer    string  // who drafted before; "" if nobody else did
	Gamma       int     // the fixed γ before; 0 if it is the same, or was not fixed
	Temperature float64 // before; negative if it is the same
	Rounds      int     // with a draft since the change; 0: the figures are wholly of the settings before
}

// Changed returns the last change of what the figures of speed depend on; false if all of them are of the
// settings in force. Each proposer has figures of its own, so after a change of it the old ones are gone
// with the first round.
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

// settled is the number of rounds after which those before are no longer named: they weigh
// rateShare^settled, 0.44 of the whole.
const settled = 16

package state

import "specula/engine/event"

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

// noteBasis keeps what a round was measured with, and counts the rounds since that changed.
func (s *State) noteBasis(e *event.Round) {
	if e.Gamma == 0 {
		return
	}
	if now := s.basisNow(); now != s.basis {
		s.former, s.basis, s.since = s.basis, now, 0
	}
	s.since++
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
	now, was := s.basisNow(), s.basis
	switch {
	case s.since == 0:
		return c, false
	case now == was:
		if was = s.former; was == (basis{}) || was.drafter != now.drafter || s.since >= settled {
			return c, false
		}
		c.Rounds = s.since
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

// settled is the number of rounds after which those before weigh little: rateShare^settled is 0.44.
const settled = 16

package engine

import (
	"specula/engine/config"
	"specula/engine/gamma"
)

// learned returns what earlier replies taught about γ and speed. A repeatable reply must not depend on what was written
// before it, so it starts without.
func (s *Session) learned(c config.Config, repeatable bool) (*gamma.Controller, *speed) {
	if repeatable {
		return gamma.New(s.gammaOptions(c, true)), &speed{}
	}
	if s.gamma == nil {
		s.gamma = gamma.New(s.gammaOptions(c, false))
	}
	s.gamma.Configure(s.gammaOptions(c, false))
	if s.proposer != c.Speculation.Proposer {
		s.gamma.ForgetDraft()
	}
	s.proposer = c.Speculation.Proposer
	return s.gamma, &s.speed
}

// gammaOptions are the controller's part of the settings. A repeatable reply reckons with nominal costs: measured ones
// differ from run to run, and with them γ, and with γ which uniform number decides about which token.
func (s *Session) gammaOptions(c config.Config, repeatable bool) gamma.Options {
	o := gamma.Options{
		Rule: gamma.Rule(c.Speculation.Rule), Gamma: c.Speculation.Gamma, Max: c.Speculation.GammaMax,
		Window: c.Speculation.WindowSize, Low: c.Speculation.WindowLow, High: c.Speculation.WindowHigh,
	}
	if repeatable {
		o.Nominal = s.nominalCosts(c.Speculation.Proposer)
	}
	return o
}

// nominalVerifyRow is what one more row of a target pass costs, in passes of one row, where costs may not be measured.
const nominalVerifyRow = 0.5

// nominalCosts estimates costs from the sizes of the models, in target passes of one row.
func (s *Session) nominalCosts(proposer string) *gamma.NominalCosts {
	n := &gamma.NominalCosts{DraftStep: 0.001, Verify: 1, VerifyRow: nominalVerifyRow}
	if proposer == "draft" && s.engine.draft != nil {
		n.DraftStep = float64(s.engine.draft.Config().Parameters) / float64(s.engine.target.Config().Parameters)
	}
	return n
}

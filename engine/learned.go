package engine

import (
	"specula/engine/config"
	"specula/engine/gamma"
)

// learned returns what earlier replies taught about γ and speed. A repeatable reply must not depend on what was written
// before it, so it starts without.
func (s *Session) learned(c config.Config) (*gamma.Controller, *speed) {
	if repeatable(c) {
		return gamma.New(s.gammaOptions(c)), &speed{}
	}
	if s.gamma == nil {
		s.gamma = s.informed(c)
	}
	s.gamma.Configure(s.gammaOptions(c))
	if s.proposer != c.Speculation.Proposer {
		s.gamma.ForgetDraft()
	}
	s.proposer = c.Speculation.Proposer
	return s.gamma, &s.speed
}

// informed returns a controller that knows the costs measured by calibrate.
func (s *Session) informed(c config.Config) *gamma.Controller {
	controller := gamma.New(s.gammaOptions(c))
	for _, o := range s.costs {
		controller.Observe(o)
	}
	s.proposer = "draft"
	return controller
}

// repeatable reports whether the clock must not have a say in what is written. At temperature 0 it never has, since γ does not
// change the text; otherwise γ decides which uniform number decides about which token.
func repeatable(c config.Config) bool {
	return c.Speculation.Costs != "measured" && c.Sampling.Seed >= 0 && c.Sampling.Temperature > 0
}

// gammaOptions are the controller's part of the settings.
func (s *Session) gammaOptions(c config.Config) gamma.Options {
	o := gamma.Options{
		Rule: gamma.Rule(c.Speculation.Rule), Gamma: c.Speculation.Gamma, Max: c.Speculation.GammaMax,
		Window: c.Speculation.WindowSize, Low: c.Speculation.WindowLow, High: c.Speculation.WindowHigh,
	}
	if c.Speculation.Costs == "nominal" || repeatable(c) {
		o.Nominal = s.nominalCosts(c.Speculation.Proposer)
	}
	return o
}

const (
	nominalVerifyRow = 0.15 // what one more row of a target pass costs, in passes of one row
	nominalLookup    = 0.001
)

// nominalCosts estimates costs from the sizes of the models, in target passes of one row.
func (s *Session) nominalCosts(proposer string) *gamma.NominalCosts {
	n := &gamma.NominalCosts{DraftStep: nominalLookup, Verify: 1, VerifyRow: nominalVerifyRow}
	if proposer == "draft" && s.engine.draft != nil {
		n.DraftStep = float64(s.engine.draft.Config().Parameters) / float64(s.engine.target.Config().Parameters)
	}
	return n
}

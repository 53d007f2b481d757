package engine

import (
	"specula/engine/config"
	"specula/engine/gamma"
	"specula/engine/spec"
)

// lessons are what replies of one path taught about γ and speed. Sampling costs time that greedy rounds do not have, and
// accepts less, so what one path taught is not true of the other.
type lessons struct {
	gamma     *gamma.Controller
	speed     speed
	sharpness sharpness
	proposer  string // that gamma learned about
}

// kind is what makes rounds alike in what they cost and accept.
type kind struct {
	path   spec.Path
	greedy bool // which the fallback path may be or not
	guided bool
}

// rehearsed returns what the costs of such rounds were before the first reply, nil if no round like them was rehearsed. Shaping adds
// little to the passes.
func (s *Session) rehearsed(k kind) []gamma.Observation {
	switch {
	case k.guided:
		return nil
	case k.path != spec.Fallback:
		return s.costs[k.path]
	case k.greedy:
		return s.costs[spec.Greedy]
	}
	return s.costs[spec.Stochastic]
}

// learned returns what earlier replies taught. A repeatable reply must not depend on what was written before it, so it starts
// without.
func (s *Session) learned(c config.Config) *lessons {
	if repeatable(c) {
		return &lessons{gamma: gamma.New(s.gammaOptions(c)), proposer: c.Speculation.Proposer}
	}
	key := kind{path: s.path(c), greedy: c.Sampling.Temperature == 0, guided: guided(c)}
	l := s.lessons[key]
	if l == nil {
		l = &lessons{gamma: gamma.New(s.gammaOptions(c)), proposer: s.rehearser}
		for _, o := range s.rehearsed(key) {
			l.gamma.Observe(o)
		}
		s.lessons[key] = l
	}
	l.gamma.Configure(s.gammaOptions(c))
	l.follow(c.Speculation.Proposer)
	return l
}

// follow forgets what was learned about another proposer.
func (l *lessons) follow(proposer string) {
	if l.proposer != proposer {
		l.gamma.ForgetDraft()
		l.sharpness = sharpness{}
		l.speed.forgetDrafts()
	}
	l.proposer = proposer
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
		o.Nominal = s.engine.nominalCosts(c.Speculation)
	}
	return o
}

const (
	nominalVerifyRow = 0.15 // what one more row of a target pass costs, in passes of one row
	nominalLookup    = 0.001
)

// nominalCosts estimates costs from the sizes of the models, in target passes of one row.
func (e *Engine) nominalCosts(c config.Speculation) *gamma.NominalCosts {
	n := &gamma.NominalCosts{DraftStep: nominalLookup, Verify: 1, VerifyRow: nominalVerifyRow}
	if read := e.draftParameters(c); read > 0 {
		n.DraftStep = float64(read) / float64(e.target.Config().Parameters)
	}
	return n
}

// draftParameters are how many weights the drafting of one token reads; 0 if it only looks up or cannot be done.
func (e *Engine) draftParameters(c config.Speculation) int64 {
	d := drafterNamed(c.Proposer)
	if d.parameters == nil || d.why(e) != "" {
		return 0
	}
	return d.parameters(e, c)
}

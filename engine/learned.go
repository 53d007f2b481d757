package engine

import (
	"specula/engine/config"
	"specula/engine/gamma"
	"specula/engine/spec"
)

// lessons are what replies of one path taught about γ and speed. Sampling costs time that greedy rounds do not have, and
// accepts less, so what one path taught is not true of the other. What they taught about a proposer holds again when it comes back.
type lessons struct {
	gamma *gamma.Controller
	plain plainSpeed
	*ofProposer
	of map[string]*ofProposer
}

// ofProposer is what rounds taught about one proposer, beside what gamma knows of it.
type ofProposer struct {
	drafted   draftedSpeed
	sharpness sharpness
}

func newLessons(o gamma.Options) *lessons {
	return &lessons{gamma: gamma.New(o), of: map[string]*ofProposer{}}
}

// kind is what makes rounds alike in what they cost and accept.
type kind struct {
	path   spec.Path
	greedy bool // which the fallback path may be or not
	guided bool
}

func (s *Session) kindOf(c config.Config) kind {
	return kind{path: s.path(c), greedy: c.Sampling.Temperature == 0, guided: guided(c)}
}

// turnTo takes up what was learned about rounds like those under a configuration, if those before were of another kind. A repeatable
// reply goes on with what it has learned by itself, unless guidance doubles its passes.
func (r *reply) turnTo(c config.Config) {
	k := r.session.kindOf(c)
	if k == r.kind {
		return
	}
	goesOn := k.guided == r.kind.guided && repeatable(r.config) && repeatable(c)
	r.kind = k
	if !goesOn {
		r.learned = r.session.learned(c)
		r.learned.gamma.BeginReply()
	}
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
		l := newLessons(s.gammaOptions(c))
		l.follow(c.Speculation.Proposer)
		for _, o := range s.rehearsed(s.kindOf(c)) {
			l.gamma.Time(o)
		}
		return l
	}
	key := s.kindOf(c)
	l := s.lessons[key]
	if l == nil {
		l = newLessons(s.gammaOptions(c))
		l.follow(s.rehearser)
		for _, o := range s.rehearsed(key) {
			l.gamma.Rehearse(o)
		}
		s.lessons[key] = l
	}
	if o := s.gammaOptions(c); o != l.gamma.Options() {
		l.gamma.Configure(o)
	}
	l.follow(c.Speculation.Proposer)
	return l
}

// follow turns to what was learned about a proposer.
func (l *lessons) follow(proposer string) {
	l.gamma.Use(proposer)
	if l.of[proposer] == nil {
		l.of[proposer] = &ofProposer{}
	}
	l.ofProposer = l.of[proposer]
}

// forget drops what was learned about a proposer that is made anew. The one in force begins anew as well.
func (l *lessons) forget(proposer string) {
	l.gamma.Forget(proposer)
	delete(l.of, proposer)
}

// repeatable reports whether the clock must not have a say in what is written. At temperature 0 it never has, since γ does not
// change the text; otherwise γ decides which uniform number decides about which token.
func repeatable(c config.Config) bool {
	asked := c.Speculation.Drafts != "" || c.Speculation.Costs != "measured" && c.Sampling.Seed >= 0
	return asked && c.Sampling.Temperature > 0
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
	nominalRead      = 0.15 // what reading a token that the draft missed costs, in draft steps: many are read at once
	nominalLookup    = 0.001
)

// nominalCosts estimates costs from the sizes of the models, in target passes of one row.
func (e *Engine) nominalCosts(c config.Speculation) *gamma.NominalCosts {
	n := &gamma.NominalCosts{DraftStep: nominalLookup, Verify: 1, VerifyRow: nominalVerifyRow}
	if read := e.draftParameters(c); read > 0 {
		n.DraftStep = float64(read) / float64(e.target.Config().Parameters)
		n.Read = nominalRead * n.DraftStep
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

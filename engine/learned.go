package engine

import (
	"specula/engine/config"
	"specula/engine/gamma"
	"specula/engine/spec"
)

// lessons hold what rounds of one kind have shown about gamma and speed. Each kind has its own lessons:
// sampled rounds, for example, cost more time than greedy ones and accept fewer tokens.
type lessons struct {
	kind      kind // the kind of the rounds that taught these lessons
	gamma     *gamma.Controller
	sharpness sharpness
}

// kind identifies rounds that cost about the same and accept about the same.
type kind struct {
	path     spec.Path
	greedy   bool // the temperature is 0; on the path fallback, greedy and sampled rounds occur
	guided   bool
	proposer string
}

func (s *Session) kindOf(c config.Config) kind {
	return kind{path: s.path(c), greedy: c.Sampling.Temperature == 0, guided: guided(c), proposer: c.Speculation.Proposer}
}

// turnTo selects the lessons for rounds under c, if these rounds are of another kind than the last
// ones. A reply that is repeatable before and after the change keeps its lessons. It gets new lessons
// only if another proposer drafts, or if guidance was turned on or off, because guidance changes the
// rows of each pass.
func (r *reply) turnTo(c config.Config) {
	k, now := r.session.kindOf(c), r.learned.kind
	switch {
	case k == now:
	case k.guided == now.guided && k.proposer == now.proposer && repeatable(r.config) && repeatable(c):
		r.learned.kind = k
	default:
		r.learned = r.session.learned(c)
		r.learned.gamma.BeginReply()
	}
}

// rehearsed returns the costs that were measured before the first reply for rounds of a kind. The path
// fallback gets the costs of path greedy or stochastic, because shaping adds little to a pass. With a server,
// one list of costs serves all kinds. Guided rounds, and kinds that were not measured, get nil.
func (s *Session) rehearsed(k kind) []gamma.Observation {
	if k.guided {
		return nil
	}
	return s.costs[k.greedy || s.engine.target == nil]
}

// learned returns the lessons for a reply under c: those of earlier replies of the same kind, or
// new ones that know only the rehearsed costs. A repeatable reply must not depend on earlier replies,
// so it always gets new lessons, and they are not kept for later replies.
func (s *Session) learned(c config.Config) *lessons {
	key := s.kindOf(c)
	l := s.lessons[key]
	if l == nil || repeatable(c) {
		l = &lessons{kind: key, gamma: gamma.New(s.gammaOptions(c))}
		for _, o := range s.rehearsed(key) {
			if key.proposer != s.rehearser {
				o.DraftMS, o.Read = 0, 0 // the drafts of this proposer were not measured
			}
			l.gamma.Rehearse(o)
		}
	}
	if !repeatable(c) {
		s.lessons[key] = l
	}
	l.gamma.Configure(s.gammaOptions(c))
	return l
}

// repeatable reports whether the same settings must give the same text again, so that gamma must not
// depend on the clock. This holds for sampling if drafts are given, or if a seed is given and
// speculation.costs is not measured. In sampling, a token's uniform number depends on gamma. At temperature 0
// gamma does not change the text.
func repeatable(c config.Config) bool {
	asked := c.Speculation.Drafts != "" || c.Speculation.Costs != "measured" && c.Sampling.Seed >= 0
	return asked && c.Sampling.Temperature > 0
}

// gammaOptions are the settings of gamma's controller.
func (s *Session) gammaOptions(c config.Config) gamma.Options {
	o := gamma.Options{
		Rule: gamma.Rule(c.Speculation.Rule), Gamma: c.Speculation.Gamma, Max: c.Speculation.GammaMax, Lookup: drafterNamed(c.Speculation.Proposer).Lookup(),
		Window: c.Speculation.WindowSize, Low: c.Speculation.WindowLow, High: c.Speculation.WindowHigh, Remote: s.engine.target == nil,
	}
	if c.Speculation.Costs == "nominal" || repeatable(c) {
		o.Nominal = s.engine.nominalCosts(c.Speculation)
	}
	return o
}

const (
	nominalVerifyRow = 0.15  // cost of one more row of a target pass, divided by that of a pass of one row; a mixture may need more
	nominalRows      = 5     // for mixtures the cost of a row is computed from a pass of 5 rows, because new rows choose new experts
	nominalRead      = 0.15  // cost of reading one unread token in the draft model, in draft steps; it is below 1, because the model reads many at once
	nominalLookup    = 0.001 // cost of a looked-up draft token, in target passes
	nominalUnknown   = 0.1   // cost of a draft step in target passes, if the target's size is not known
)

// nominalCosts estimates costs from the sizes of the models. The unit of a cost is a target pass of one row.
func (e *Engine) nominalCosts(c config.Speculation) *gamma.NominalCosts {
	plain := float64(e.shape.ReadBy(1))
	n := &gamma.NominalCosts{DraftStep: nominalLookup, Verify: 1, VerifyRow: nominalVerifyRow}
	if plain > 0 {
		n.VerifyRow = max(n.VerifyRow, (float64(e.shape.ReadBy(nominalRows))/plain-1)/(nominalRows-1))
	}
	if read := e.draftParameters(c); read > 0 {
		n.DraftStep = nominalUnknown
		if plain > 0 {
			n.DraftStep = float64(read) / plain
		}
		n.Read = nominalRead * n.DraftStep
	}
	return n
}

// draftParameters returns how many weights are read to draft one token; 0 for a lookup, or if the
// proposer cannot draft.
func (e *Engine) draftParameters(c config.Speculation) int64 {
	d := drafterNamed(c.Proposer)
	if d.why(e) != "" {
		return 0
	}
	return d.parameters(e, c)
}

// Package gamma chooses γ, how many tokens to draft in the next round.
//
// A round with draft length γ commits 1 + a₁ + a₁a₂ + … + a₁⋯a_γ tokens on average, where a_i is the chance that draft token
// i is accepted once all before it were. It takes γ draft steps and one target pass over γ+1 rows, v(γ+1). The cost-aware
// rule picks the γ with the most tokens per unit of time, or a longer one that is as good but for 2 %; γ = 0, plain decoding, is
// one of the choices, so speculation that does not pay switches itself off. Both sides are learned while a reply is written:
// acceptance from verdicts, of which only those up to the first rejection exist, and costs from the clock, or from nominal
// figures where runs must be repeatable.
//
// The package is arithmetic alone: no clock, no device, no randomness. Durations come in through Observation.
package gamma

import "fmt"

// Rule names a way of choosing.
type Rule string

// The rules, as the setting "gamma_rule" spells them.
const (
	Fixed     Rule = "fixed"      // always Options.Gamma
	Windowed  Rule = "windowed"   // halve when acceptance over a window is low, restore when it is high
	CostAware Rule = "cost-aware" // most tokens per time
)

// Options configure a Controller. All of them may change between two rounds.
type Options struct {
	Rule  Rule
	Gamma int // the fixed γ, and the full γ of the windowed rule
	Max   int // the largest γ any rule may choose
	// Window, Low and High belong to the windowed rule: rounds averaged over, and the acceptance below which γ is halved and
	// above which it is restored.
	Window    int
	Low, High float64
	// Nominal, when not nil, replaces measured costs, so that the same tokens always lead to the same choices.
	Nominal *NominalCosts
}

// Decision is the choice for one round.
type Decision struct {
	Gamma int
	Probe bool   // chosen to learn something, not for being the best
	Why   string // in words, with figures
	// Off says in words why no draft pays at present; "" when one does, or when nothing is known yet.
	Off string
	// What was believed before the round.
	Expected   float64   // committed tokens
	Acceptance []float64 // (Max) a_i, the chance of draft token i given that those before it were accepted
}

// Observation is what came of a round, whoever chose its γ.
type Observation struct {
	Drafted  int // tokens proposed; 0 in a plain round, and in one whose proposer failed, which counts as one token tested and refused
	Tested   int // draft tokens the target judged
	Accepted int
	// Off says that speculation was switched off: such a round teaches what plain rounds cost and nothing about drafts, nor does it pay for tries.
	Off bool
	// Milliseconds of drafting, of the target's pass, and of everything else in the round.
	DraftMS, VerifyMS, RestMS float64
	// Pending is the number of committed tokens the first draft step had to read; more than 2 makes DraftMS untypical.
	Pending int
	// Read is how many committed tokens the proposer read before its first step, because it had missed them, and ReadMS how long that took.
	Read   int
	ReadMS float64
	// Chances are how probable it was that each tested token is accepted, given what it is (Tested): they tell the same as the
	// verdicts with less luck in it. nil where only verdicts are known, as at temperature 0.
	Chances []float64
	// Confidence is the draft's own probability of each token (Drafted); nil if it has none.
	Confidence []float64
}

// held is how much of tested token i was accepted: all or nothing, or its chance.
func (o *Observation) held(i int) float64 {
	switch {
	case i < len(o.Chances):
		return o.Chances[i]
	case i < o.Accepted:
		return 1
	}
	return 0
}

// Outlook is what a round finds that the rounds before it do not tell.
type Outlook struct {
	Unread int // committed tokens that the proposer missed and has to read before it can draft
	Left   int // tokens that the reply may still have
	// Free says that the proposer only looks up. Then the cost-aware rule lets it, and decides when it is known what was found (Trim).
	Free bool
}

// Controller chooses γ round by round and learns from every round. It serves one goroutine.
type Controller struct {
	options Options
	*evidence
	known     map[string]*evidence // by proposer; evidence is that of the one in force
	costs     costs
	window    window
	round     round
	hindsight hindsight
	replies   replies
	words     words
	rest      int  // rounds for which the decision against drafting holds unexamined
	swayed    bool // it was taken for what is peculiar to the reply, and does not hold in the next
	// What a round with so many draft tokens is believed to commit and to cost, (Max+1), as of Next.
	believedTokens, believedCost []float64
}

// evidence is what was learned about one proposer.
type evidence struct {
	acceptance acceptance
	confidence calibration
	lookups    lookups
	drafting   drafting
	probes     probes
	drafts     int // rounds of replies that drafted; a rehearsal is none
}

// round is what Continue needs to know of the round under way.
type round struct {
	Decision
	// tokensPerCost is the rate at which time could be spent otherwise: an extra draft step must earn more.
	tokensPerCost float64
	reach         float64 // chance that every token drafted so far is accepted
	price         float64 // what a probe of drafting is expected to lose, reading included
}

// New returns a controller without evidence, for a proposer without a name.
func New(o Options) *Controller {
	c := &Controller{known: map[string]*evidence{}}
	c.Configure(o)
	c.Use("")
	return c
}

// Configure changes the options from the next round on and keeps everything learned.
func (c *Controller) Configure(o Options) {
	if o.Rule != c.options.Rule || o.Gamma != c.options.Gamma || o.Max != c.options.Max {
		c.window.restart(min(o.Gamma, o.Max))
	}
	c.options = o
	c.costs.nominal = o.Nominal
	c.words, c.rest = words{}, 0
}

// Options are those in force.
func (c *Controller) Options() Options { return c.options }

// Use turns to a proposer: from now on rounds are its, and what they taught when it was in force before holds again. The target's costs
// are the same for all.
func (c *Controller) Use(proposer string) {
	e := c.known[proposer]
	if e == nil {
		e = &evidence{probes: newProbes()}
		c.known[proposer] = e
	}
	if c.evidence == e {
		return
	}
	c.evidence, c.costs.drafting = e, &e.drafting
	c.words, c.rest = words{}, 0
	c.window.restart(min(c.options.Gamma, c.options.Max))
}

// Forget drops what was learned about a proposer, for when another will bear its name. If it is in force, Use must follow.
func (c *Controller) Forget(proposer string) { delete(c.known, proposer) }

// Next chooses γ for the coming round.
func (c *Controller) Next(o Outlook) Decision {
	if c.rest > 0 {
		c.rest--
		return c.round.Decision
	}
	c.believe()
	var d Decision
	switch c.options.Rule {
	case Fixed:
		d = Decision{Gamma: min(c.options.Gamma, c.options.Max), Why: "as set"}
	case Windowed:
		d = Decision{Gamma: c.window.gamma, Why: c.window.why}
	case CostAware:
		c.words.age++
		d = c.mostTokensPerCost(o)
	default:
		panic(fmt.Sprintf("gamma: no rule %q", c.options.Rule))
	}
	d.Acceptance = c.acceptance.first(c.options.Max)
	d.Expected = c.tokens(d.Gamma)
	d.Off = c.words.off
	c.round = round{Decision: d, reach: 1, tokensPerCost: c.bestRate(), price: c.price(d.Gamma, c.debt(o))}
	return d
}

// Resting reports whether Next will repeat its decision against drafting without weighing anything.
func (c *Controller) Resting() bool { return c.rest > 0 }

// Rehearse learns from a round that only served to find out what it costs. What Observe says about tokens does not hold of it.
func (c *Controller) Rehearse(o Observation) {
	c.Time(o)
	c.probes.seen(o)
}

// Time learns what a rehearsed round cost, and nothing that a decision under nominal costs depends on.
func (c *Controller) Time(o Observation) {
	c.costs.observe(o)
	c.costs.level.variance = rehearsed
}

// PlainRounds is what a round that drafts so many tokens costs at present, in plain rounds, by the clock even where costs are
// nominal; false if no plain round was timed.
func (c *Controller) PlainRounds(drafted int) (rounds float64, timed bool) {
	clock := c.costs
	clock.nominal = nil
	if len(clock.verify) == 0 || clock.verify[0].samples == 0 {
		return 0, false
	}
	return clock.of(drafted) / clock.pass(0), true
}

// Observe learns from a finished round.
func (c *Controller) Observe(o Observation) {
	if o.Drafted > 0 || o.Tested > 0 {
		c.rest = 0
		c.drafts++
	}
	c.hindsight.observe(o)
	c.replies.written += o.Accepted + 1
	if o.Off {
		c.costs.observe(o)
		c.probes.seen(o)
		return
	}
	c.acceptance.observe(o)
	c.confidence.observe(o)
	c.lookups.observe(o)
	c.costs.observe(o)
	if o.Drafted > 0 && o.Tested > 0 {
		c.window.observe(float64(o.Accepted)/float64(o.Tested), c.options)
	}
	cost := 0.0
	if o.Drafted < len(c.believedCost) {
		cost = c.cost(o.Drafted)
	}
	c.probes.observe(o, cost, c.round)
}

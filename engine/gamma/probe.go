package gamma

import "fmt"

const (
	firstInterval = 8   // rounds until the first probe of each kind
	lastInterval  = 128 // most rounds between two plain rounds
	lastTry       = 16  // most rounds between two tries to draft, if the budget allows
	// probeBudget is the share of time that tries may cost while plain decoding is the best: 0.15
	// %. The other costs of speculation use the rest of the 1 % that it may cost at worst. In the
	// first youngRounds rounds, when least is known, the share is youngBudget.
	probeBudget              = 0.0015
	youngBudget, youngRounds = 0.003, 500
	// mostSaved is how much of the budget can be saved up, in plain rounds, unless a single try
	// costs more.
	mostSaved = 4
	// longestStreak is the longest run of tries that follow each other at once because the one
	// before was accepted.
	longestStreak = 8
)

// probes remembers when something other than the best choice was last tried.
type probes struct {
	plain, draft timer
	length       timer // a draft length that was not measured
	plainRounds  int
	draftSteps   int
	rounds       int
	promising    int     // successive tries that were fully accepted while plain seemed best
	saved        float64 // budget saved up for tries; each is paid from it, whatever its result
}

// timer counts rounds and cost since the last round of one kind.
type timer struct {
	rounds   int
	cost     float64
	interval int
}

func newProbes() probes {
	return probes{
		plain:  timer{interval: firstInterval},
		draft:  timer{interval: firstInterval},
		length: timer{interval: firstInterval},
	}
}

func (t *timer) pass(cost float64) { t.rounds++; t.cost += cost }
func (t *timer) reset()            { t.rounds, t.cost = 0, 0 }
func (t *timer) backOff(most int)  { t.interval = min(2*t.interval, most) }
func (t *timer) due() bool         { return t.rounds >= t.interval }

func (p *probes) observe(o Observation, cost float64, r round) {
	p.plain.pass(cost)
	p.draft.pass(cost)
	p.length.pass(cost)
	p.rounds++
	p.saved += p.budget() * cost
	if r.Probe && r.Gamma > 0 {
		p.saved -= r.price
	}
	p.seen(o)
	if o.Drafted == 0 {
		if o.Tested > 0 {
			p.draft.reset() // it was tried, and the proposer failed
		}
		p.plain.reset()
		return
	}
	if r.Probe && o.Tested > 0 && o.Accepted == o.Tested {
		p.promising++
		p.draft.interval = firstInterval
	} else {
		p.promising = 0
	}
	p.draft.reset()
}

// budget returns the share of time that tries may cost at present.
func (p *probes) budget() float64 {
	if p.rounds < youngRounds {
		return youngBudget
	}
	return probeBudget
}

// seen counts the rounds and draft steps that there are to compare.
func (p *probes) seen(o Observation) {
	if o.Drafted == 0 {
		p.plainRounds++
	}
	p.draftSteps += o.Drafted
}

// probe returns a decision that is worth making for what it teaches, if there is one. debt is the
// cost of what the proposer must read first.
func (c *Controller) probe(best int, debt float64) (Decision, bool) {
	p := &c.probes
	if d, ok := c.probePlain(best); ok {
		return d, true
	}
	switch {
	case c.options.Max == 0:
		return Decision{}, false
	case p.draftSteps == 0:
		return Decision{Gamma: 1, Probe: true, Why: "one draft token, to see what it costs and whether it holds"}, true
	case best == 0:
		return c.probeDraft(debt)
	}
	return c.probeLength(best)
}

// probePlain asks for a plain round to compare with: the first round, and one now and then.
func (c *Controller) probePlain(best int) (Decision, bool) {
	p := &c.probes
	switch {
	case p.plainRounds == 0:
		return Decision{Probe: true, Why: "the first round is plain, to have something to compare with"}, true
	case best > 0 && p.plain.due():
		p.plain.backOff(lastInterval)
		return Decision{Probe: true, Why: fmt.Sprintf("no plain round for %d: a fresh one to compare with", p.plain.rounds)}, true
	}
	return Decision{}, false
}

// probeDraft tries to draft again while drafting does not seem to pay. It does so at growing
// intervals, when the budget covers the draft and all that the proposer must read first. It tries
// again at once if the last try was accepted and drafts would pay if they were always accepted. If
// reading a token costs more than the budget gains per round, the debt grows faster than the
// budget; the try then comes at the start of a later reply and not in the middle of this one.
func (c *Controller) probeDraft(debt float64) (Decision, bool) {
	p := &c.probes
	gamma := c.best(1)
	price := c.price(gamma, debt)
	p.saved = min(p.saved, max(mostSaved*c.cost(0), price))
	again := p.promising%longestStreak > 0 && float64(gamma+1)*c.cost(0) > c.cost(gamma)+debt
	if !again && !(p.draft.due() && price <= p.saved) {
		return Decision{}, false
	}
	why := fmt.Sprintf("no draft for %d rounds: trying whether γ %d pays again", p.draft.rounds, gamma)
	if again {
		why = fmt.Sprintf("the last try was accepted: γ %d once more", gamma)
	}
	p.draft.backOff(lastTry)
	return Decision{Gamma: gamma, Probe: true, Why: why}, true
}

// probeLength tries a draft length that was hardly measured, if it would beat the best one at the
// cost of the next shorter measured length. Costs have steps, and interpolation cannot see beyond a
// step.
func (c *Controller) probeLength(best int) (Decision, bool) {
	p := &c.probes
	if !p.length.due() {
		return Decision{}, false
	}
	for gamma := c.options.Max; gamma > 0; gamma-- {
		if gamma == best || c.costs.samples(gamma) >= 2 {
			continue
		}
		hoped := c.tokens(gamma) / (c.costs.steps(gamma) + c.costs.cheapest(gamma))
		if hoped > 1.01*c.rate(best) && c.affordable(gamma, p.length.cost) {
			p.length.reset()
			return Decision{Gamma: gamma, Probe: true, Why: fmt.Sprintf("γ %d was measured %d times only, and may pay %.2f×",
				gamma, c.costs.samples(gamma), hoped*c.cost(0))}, true
		}
	}
	return Decision{}, false
}

// price returns what a round with gamma draft tokens is expected to lose against the best choice,
// if the proposer's reading costs debt first.
func (c *Controller) price(gamma int, debt float64) float64 {
	if gamma == 0 {
		return 0
	}
	return max(0, debt+c.cost(gamma)-c.tokens(gamma)/c.bestRate())
}

// affordable reports whether a round with gamma draft tokens loses no more than a share of the cost
// since the last probe. The share is the budget, or a tenth of what speculation gains over plain
// decoding, if that is more.
func (c *Controller) affordable(gamma int, since float64) bool {
	won := c.bestRate()*c.cost(0) - 1
	return c.price(gamma, 0) <= max(c.probes.budget(), won/10)*since
}

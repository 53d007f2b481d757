package gamma

import "fmt"

const (
	firstInterval = 8   // rounds until the first probe of a kind
	lastInterval  = 128 // rounds between plain rounds once they have stopped changing anything
	lastTry       = 16  // and between tries to draft, if the budget allows so many: where drafts nearly pay, it does
	// probeBudget is the share of time that trying drafts may cost while plain decoding is the best there is: a sixth of the 1 % that speculation
	// may cost at worst, for to weigh and to follow take their part, too. In the first youngRounds, when least is known, it is youngBudget.
	probeBudget              = 0.0015
	youngBudget, youngRounds = 0.003, 500
	// mostSaved is how much of the budget for trying drafts may be saved up, in plain rounds, unless a single try costs more.
	mostSaved = 4
	// longestStreak bounds the tries that follow each other because the one before went well.
	longestStreak = 8
)

// probes remembers when something was last tried that was not the best choice.
type probes struct {
	plain, draft timer
	length       timer // an unmeasured draft length
	plainRounds  int
	draftSteps   int
	rounds       int
	promising    int     // so many tries in a row went well while plain decoding seemed best
	saved        float64 // of the budget, for trying drafts; tries are paid out of it whatever came of them
}

// timer counts rounds and cost since a kind of round was last run.
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
			p.draft.reset() // it was tried, and failed
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

// budget is the share of time that may be spent at present.
func (p *probes) budget() float64 {
	if p.rounds < youngRounds {
		return youngBudget
	}
	return probeBudget
}

// seen counts what there is to compare.
func (p *probes) seen(o Observation) {
	if o.Drafted == 0 {
		p.plainRounds++
	}
	p.draftSteps += o.Drafted
}

// probe returns a decision that is worth taking for what it teaches, if there is one, given what the proposer's reading would cost first.
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

// probePlain wants a plain round, to compare with, at the beginning and now and then between others.
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

// probeDraft tries speculation again while it does not seem to pay: at growing intervals, when the budget has been saved up for the drafting and
// for all that the proposer must read first, and at once when the last try went well and drafts that always hold would pay. Where reading
// a token costs more than the budget's share of a round, that is at the beginning of a later reply, and not in the midst of one.
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

// probeLength tries a draft length that was hardly measured and would beat the best one if it cost no more than the next
// shorter measured one: costs have cliffs, and interpolation cannot see behind them.
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

// price returns what a round that drafts gamma tokens is expected to lose, compared with doing the best thing instead, when the proposer's
// reading costs debt first.
func (c *Controller) price(gamma int, debt float64) float64 {
	if gamma == 0 {
		return 0
	}
	return max(0, debt+c.cost(gamma)-c.tokens(gamma)/c.bestRate())
}

// affordable says whether a round of gamma draft tokens loses no more than the share of the time since the last probe that may be spent: a fixed
// small one, or of what speculation is winning over plain decoding a tenth, if that is more.
func (c *Controller) affordable(gamma int, since float64) bool {
	won := c.bestRate()*c.cost(0) - 1
	return c.price(gamma, 0) <= max(c.probes.budget(), won/10)*since
}

package gamma

// tally books rounds by the number of tokens that they drafted. What they took is reckoned at the
// prices of now. Measured times would not compare: plain rounds are few, and by the time of the
// comparison they are old. On a machine that others use too, their load would decide the result.
type tally struct {
	rounds []float64 // by tokens drafted
	tokens float64   // committed by all of them
	lostMS float64   // spent on drafts that brought no token
	n      int       // rounds, whatever their weight
}

func (t *tally) add(o Observation) {
	for len(t.rounds) <= o.Drafted {
		t.rounds = append(t.rounds, 0)
	}
	t.rounds[o.Drafted]++
	t.tokens += float64(o.Accepted + 1)
	t.n++
	if o.Drafted == 0 {
		t.lostMS += o.DraftMS
	}
}

// recentShare is what the weight of a round is multiplied by with each later one: about the last 20
// rounds count.
const recentShare = 0.95

// fade lowers the weight of all rounds.
func (t *tally) fade() {
	for i := range t.rounds {
		t.rounds[i] *= recentShare
	}
	t.tokens *= recentShare
	t.lostMS *= recentShare
}

// cost returns what the rounds cost at present. Reading is left out: it is paid once and not in
// every round, and every fixed γ > 0 would have paid for it as well.
func (t *tally) cost(of func(drafted int) float64) (sum float64) {
	for drafted, rounds := range t.rounds {
		if rounds > 0 {
			sum += rounds * of(drafted)
		}
	}
	return sum
}

// Speedup returns how much faster rounds that asked for a draft write than plain rounds of this
// session, by measured times. A lookup that found nothing counts as a round that asked; else
// lookups would seem to gain more than they do. times is 0 while there is no such round or no price
// of a plain one. estimated is true until replies have had enough rounds of both kinds; until then
// the price of a plain round may come from passes timed when the session was opened.
func (c *Controller) Speedup() (times float64, estimated bool) {
	clock := c.costs
	clock.nominal = nil
	if len(clock.passes) == 0 || clock.passes[0].samples == 0 || c.recent.n == 0 {
		return 0, false
	}
	took := c.recent.cost(clock.of) + c.recent.lostMS
	return c.recent.tokens * clock.of(0) / took, min(c.plain.n, c.recent.n) < plainFewest
}

const (
	hindsightRounds = 16 // before that many rounds a reply has shown too little
	hindsightTests  = 4  // with fewer tests of a position in the reply, the general estimate is used
)

// Hindsight returns the fixed γ that would have been fastest in this reply so far, and the share of
// the reply's time that it would have saved. It uses the acceptance seen in this reply and the
// learned costs. The share is negative if choosing γ each round, or ending drafts early, was faster
// than any fixed γ. ok is false until the reply has shown enough.
func (c *Controller) Hindsight() (best int, regret float64, ok bool) {
	took := c.reply.cost(c.costs.of)
	if c.reply.n < hindsightRounds || took <= 0 {
		return 0, 0, false
	}
	tokens, reach, highest := 1.0, 1.0, 0.0
	for gamma := range c.options.Max + 1 {
		if known := c.costs.nominal != nil || c.costs.measured(gamma); known || gamma == 0 {
			if rate := tokens / c.costs.of(gamma); rate > highest {
				best, highest = gamma, rate
			}
		}
		reach *= c.acceptance.shown(gamma)
		tokens += reach
	}
	return best, 1 - c.reply.tokens/highest/took, true
}

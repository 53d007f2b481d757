package gamma

// Across a network, plain decoding reads a stream of the server: opening the stream costs one round
// trip, and then its tokens come without further round trips. A round with a draft is a request of its
// own, and ends the stream. So the choice between stream and drafts includes what it costs to change
// from one to the other. And the controller may refuse drafts from the first round on, without first making
// some to learn from (mayRefuse). A try (plainOrTry) still comes once its budget covers the loss.

// streamMargin is the fraction by which drafts must seem faster than the stream. The estimates have
// errors, and stopping a stream by mistake costs more time than the next rounds can save.
const streamMargin = 0.1

// turn returns the cost of going from the stream to drafts of gamma tokens. If a stream is being read,
// this includes opening it again later.
func (c *Controller) turn(gamma int) float64 {
	if c.outlook.Streams {
		return c.opening() + c.catchUp(gamma)
	}
	return c.catchUp(gamma)
}

// opening returns how much more a stream's first token costs than a later one. The first token costs
// about as much as the shortest request, which is a round with one draft token.
func (c *Controller) opening() float64 {
	if !c.options.Remote {
		return 0
	}
	return max(0, c.costs.pass(1)-c.costs.pass(0))
}

// catchUp returns what it costs the server that the first gamma further sequences read what they have
// missed (Outlook.MissedMS).
func (c *Controller) catchUp(gamma int) (sum float64) {
	if c.costs != &c.clock {
		return 0 // nominal costs are not in milliseconds
	}
	for _, ms := range c.outlook.MissedMS[:min(gamma, len(c.outlook.MissedMS))] {
		sum += ms
	}
	return sum
}

// withoutCatchUp returns the observation of a round without the time that catchUp estimates, because later
// rounds of this length do not need this time. The estimate may be too high, so the round does not become
// cheaper than expected.
func (c *Controller) withoutCatchUp(o Observation) Observation {
	if missed := c.catchUp(o.Drafted); missed > 0 {
		o.VerifyMS = max(o.VerifyMS-missed, min(o.VerifyMS, c.costs.pass(o.Drafted)))
	}
	return o
}

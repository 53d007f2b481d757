package gamma

// Across a network, plain decoding is a stream of the server: after one round trip its tokens come without further
// ones. A round with a draft is a request of its own, and ends the stream. So the choice between them includes
// what it costs to change, and no draft is made only for evidence that it does not pay (mayRefuse).

// streamMargin is the fraction by which drafts must seem faster than the stream. The estimates have errors, and
// what stops a stream for nothing is not made up for soon.
const streamMargin = 0.1

// beatsStream returns the γ that should write the rest of the reply faster than the server's stream, or 0. debt is
// the cost of the tokens that the proposer must read first.
func (c *Controller) beatsStream(debt float64) (pays int) {
	tokens := min(c.replyTokens.mean, float64(c.outlook.Left))
	least := (1 - streamMargin) * tokens / c.rate(0)
	if !c.outlook.Streams {
		least += c.opening()
	}
	for gamma := 1; gamma < len(c.lengths); gamma++ {
		if cost := debt + c.turn(gamma) + tokens/c.rate(gamma); cost < least {
			pays, least = gamma, cost
		}
	}
	return pays
}

// turn returns the cost of going from the stream to drafts of gamma tokens: later, the stream must be opened again.
func (c *Controller) turn(gamma int) float64 {
	if c.outlook.Streams {
		return c.opening() + c.catchUp(gamma)
	}
	return c.catchUp(gamma)
}

// opening returns the cost of a stream's first token beyond that of a later one. It is about that of the shortest
// request.
func (c *Controller) opening() float64 { return max(0, c.costs.pass(1)-c.costs.pass(0)) }

// catchUp returns the cost for the server of reading in gamma further sequences what they have missed.
func (c *Controller) catchUp(gamma int) (sum float64) {
	if c.costs != &c.clock {
		return 0 // costs have another unit
	}
	for _, ms := range c.outlook.MissedMS[:min(gamma, len(c.outlook.MissedMS))] {
		sum += ms
	}
	return sum
}

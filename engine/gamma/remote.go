package gamma

// Across a network, plain decoding reads a stream of the server: opening the stream costs one round
// trip, and then its tokens come without further round trips. A round with a draft is a request of its
// own, and ends the stream. So the choice between stream and drafts includes what it costs to change
// from one to the other. Where no network is crossed, changing costs nothing.

// streamMargin takes the place of margin. It is larger, because stopping a stream by mistake costs more time
// than the next rounds can save.
const streamMargin = 0.1

// turn returns the cost of going over to drafts of gamma tokens. If a stream is being read, this includes
// opening it again later.
func (c *Controller) turn(gamma int) float64 {
	cost := c.catchUp(gamma)
	if c.outlook.Streams {
		cost += c.opening()
	}
	return cost
}

// opening returns how much more a stream's first token costs than a later one. The first token costs
// about as much as the shortest request, which is a round with one draft token.
func (c *Controller) opening() float64 { return max(0, c.costs.pass(1)-c.costs.pass(0)) }

// catchUp returns what it costs the server that the first gamma further sequences read what they have
// missed (Outlook.MissedMS).
func (c *Controller) catchUp(gamma int) (sum float64) {
	if c.options.Nominal != nil {
		return 0 // nominal costs are not in milliseconds
	}
	for _, ms := range c.outlook.MissedMS[:min(gamma, len(c.outlook.MissedMS))] {
		sum += ms
	}
	return sum
}

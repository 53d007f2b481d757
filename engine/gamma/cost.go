package gamma

// NominalCosts replace measured costs. Any unit will do, such as milliseconds or passes of the
// target, if all four use the same one.
type NominalCosts struct {
	DraftStep float64 // one draft token
	Verify    float64 // a target pass over one row
	VerifyRow float64 // each further row of that pass
	Read      float64 // one token that the proposer missed and must read before it can draft
}

// drafting is the proposer's part of the cost of a round, in milliseconds at level 1.
type drafting struct {
	// only is the price of a draft step in a round that drafts one token, step the mean price of a
	// step in longer drafts. They differ because the first step of a round also reads what the last
	// round committed, sometimes two tokens.
	step, only price
	read       price // reading one token that was missed
}

func (d *drafting) observe(o Observation, l *level) {
	if o.Read > 0 {
		d.read.observe(o.ReadMS/float64(o.Read), l)
	}
	if o.Drafted == 0 || o.Pending > 2 {
		return
	}
	if o.Drafted == 1 {
		d.only.observe(o.DraftMS, l)
	}
	if o.Drafted > 1 || d.step.samples == 0 {
		d.step.observe(o.DraftMS/float64(o.Drafted), l)
	}
}

// costs knows what a round costs, in milliseconds or in nominal units.
type costs struct {
	nominal  *NominalCosts
	level    level
	drafting *drafting // of the current proposer
	verify   []price   // indexed by rows − 1: the target's pass and everything else except drafting
}

func (c *costs) observe(o Observation) {
	for len(c.verify) <= o.Drafted {
		c.verify = append(c.verify, price{})
	}
	c.level.age()
	c.verify[o.Drafted].observe(o.VerifyMS+o.RestMS, &c.level)
	c.drafting.observe(o, &c.level)
}

// samples returns the number of measured rounds with this draft length.
func (c *costs) samples(gamma int) int {
	switch {
	case c.nominal != nil:
		return trusted
	case gamma >= len(c.verify):
		return 0
	}
	return c.verify[gamma].samples
}

// steps returns the expected cost of n draft steps.
func (c *costs) steps(n int) float64 {
	d := c.drafting
	switch {
	case c.nominal != nil:
		return float64(n) * c.nominal.DraftStep
	case n == 0:
		return 0
	case d.step.samples == 0 || n == 1 && d.only.samples >= trusted:
		return float64(n) * d.only.at(&c.level)
	}
	return float64(n) * d.step.at(&c.level)
}

// reading returns the expected cost of reading tokens that the proposer missed. Before any reading
// was measured, a token is assumed to cost a draft step, which is the most it can cost.
func (c *costs) reading(tokens int) float64 {
	switch {
	case tokens == 0:
		return 0
	case c.nominal != nil:
		return float64(tokens) * c.nominal.Read
	case c.drafting.read.samples == 0:
		return float64(tokens) * c.drafting.step.at(&c.level)
	}
	return float64(tokens) * c.drafting.read.at(&c.level)
}

// of returns the expected cost of a round that drafts gamma tokens.
func (c *costs) of(gamma int) float64 {
	return c.steps(gamma) + c.pass(gamma)
}

// pass returns the expected cost of a round without its drafting, for gamma draft tokens, that is
// gamma+1 rows. Between measured lengths it interpolates. Beyond the longest it continues the
// average slope.
func (c *costs) pass(gamma int) float64 {
	if c.nominal != nil {
		return c.nominal.Verify + float64(gamma)*c.nominal.VerifyRow
	}
	shortest, below, above := -1, -1, -1
	for i := range c.verify {
		if c.verify[i].samples == 0 {
			continue
		}
		if shortest < 0 {
			shortest = i
		}
		if i <= gamma {
			below = i
		} else if above < 0 {
			above = i
		}
	}
	switch {
	case shortest < 0:
		return 1 // nothing is known, so there is nothing to compare with
	case below < 0:
		return c.measured(above)
	case below == gamma || above < 0 && below == shortest:
		return c.measured(below)
	case above < 0:
		return line(gamma, shortest, below, c.measured(shortest), c.measured(below))
	}
	return line(gamma, below, above, c.measured(below), c.measured(above))
}

// cheapest returns a lower bound of the cost of a pass. More rows never cost less, so the longest
// length up to gamma that was measured more than once is such a bound. A single sample does not
// count: it may include a stall of the machine.
func (c *costs) cheapest(gamma int) float64 {
	for i := min(gamma, len(c.verify)-1); i >= 0; i-- {
		if c.verify[i].samples > 1 {
			return c.measured(i)
		}
	}
	return 0
}

// measured returns the price of a measured length, or the price of a longer one if that is lower.
// More rows never cost less, so a cheaper longer pass shows that the sample of the shorter one was
// disturbed.
func (c *costs) measured(gamma int) float64 {
	least := c.verify[gamma].at(&c.level)
	for i := gamma + 1; i < len(c.verify); i++ {
		if c.verify[i].samples > 0 {
			least = min(least, c.verify[i].at(&c.level))
		}
	}
	return least
}

// line evaluates the line through (x0, y0) and (x1, y1) at x; x0 < x1.
func line(x, x0, x1 int, y0, y1 float64) float64 {
	return y0 + (y1-y0)*float64(x-x0)/float64(x1-x0)
}

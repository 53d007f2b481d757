package gamma

// NominalCosts are given instead of measured ones. Their unit does not matter; milliseconds or passes of the target will do.
type NominalCosts struct {
	DraftStep float64 // one token of the draft
	Verify    float64 // a pass of the target over one row
	VerifyRow float64 // what each further row adds
	Read      float64 // one token that the draft missed, read before it can go on
}

// drafting is what a proposer's part of a round costs, in milliseconds at level 1.
type drafting struct {
	// The first draft step of a round reads what the last one committed, two tokens at times, and is dearer than the others: a step
	// that is the only one of its round has a price of its own.
	step, only price
	read       price // of a token that was missed
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
	drafting *drafting // of the proposer in force
	verify   []price   // by rows − 1: the target's pass and everything else that is not drafting
}

func (c *costs) observe(o Observation) {
	for len(c.verify) <= o.Drafted {
		c.verify = append(c.verify, price{})
	}
	c.level.age()
	c.verify[o.Drafted].observe(o.VerifyMS+o.RestMS, &c.level)
	c.drafting.observe(o, &c.level)
}

// samples returns on how many rounds the cost of a draft length rests.
func (c *costs) samples(gamma int) int {
	switch {
	case c.nominal != nil:
		return trusted
	case gamma >= len(c.verify):
		return 0
	}
	return c.verify[gamma].samples
}

// steps returns the expected cost of so many draft steps.
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

// reading returns the expected cost of reading so many tokens that the proposer missed. As long as none were read, one is taken to cost a
// draft step, which is the most it can.
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

// pass returns the expected cost of everything in a round but drafting, for gamma draft tokens, that is gamma+1 rows.
// Between measured lengths it is interpolated, and beyond the longest it goes on as it rose on average.
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
		return 1 // nothing is known, and nothing to compare with
	case below < 0:
		return c.measured(above)
	case below == gamma || above < 0 && below == shortest:
		return c.measured(below)
	case above < 0:
		return line(gamma, shortest, below, c.measured(shortest), c.measured(below))
	}
	return line(gamma, below, above, c.measured(below), c.measured(above))
}

// cheapest returns the least that the pass can cost, given that more rows never cost less: the cost of the longest length up
// to gamma that was measured more than once. A single sample may have been a stall of the machine.
func (c *costs) cheapest(gamma int) float64 {
	for i := min(gamma, len(c.verify)-1); i >= 0; i-- {
		if c.verify[i].samples > 1 {
			return c.measured(i)
		}
	}
	return 0
}

// measured returns the price of a measured length, or a longer one's if that is less: more rows never cost less, so the
// longer one shows that the shorter was disturbed.
func (c *costs) measured(gamma int) float64 {
	least := c.verify[gamma].at(&c.level)
	for i := gamma + 1; i < len(c.verify); i++ {
		if c.verify[i].samples > 0 {
			least = min(least, c.verify[i].at(&c.level))
		}
	}
	return least
}

// line evaluates at x the line through (x0, y0) and (x1, y1), x0 < x1.
func line(x, x0, x1 int, y0, y1 float64) float64 {
	return y0 + (y1-y0)*float64(x-x0)/float64(x1-x0)
}

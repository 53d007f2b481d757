package gamma

import (
	"math"
	"slices"
)

// NominalCosts replace measured costs. All four have the same unit, which may be any: for example
// milliseconds, or passes of the target.
type NominalCosts struct {
	DraftStep float64 // one draft token
	Verify    float64 // a target pass over one row
	VerifyRow float64 // each further row of that pass
	Read      float64 // reading one token that the proposer missed
}

// ledger returns costs made of these prices, for drafts of up to most tokens.
func (n *NominalCosts) ledger(most int) *costs {
	c := &costs{load: 1, step: price{n.DraftStep, rehearsals}, read: price{n.Read, rehearsals}}
	for gamma := range most + 1 {
		c.passes = append(c.passes, price{n.Verify + float64(gamma)*n.VerifyRow, rehearsals})
	}
	return c
}

// costs is a ledger: what the parts of a round cost, in milliseconds or in nominal units.
//
// Times change together: other programs use the machine, the clock rate falls, the context grows. A
// part that has not run for a while has an old price, and would look cheap after the machine became
// slow. So a price is kept for an unloaded machine, and all prices are multiplied by one load:
// duration = base · load. Once a base has some samples, the load follows quickly, the base slowly.
type costs struct {
	load   float64 // how slow the machine is; 1 at first
	passes []price // index: draft tokens, which are rows − 1; price: Observation.VerifyMS
	step   price   // drafting one token
	read   price   // reading one token that the proposer missed
	remote bool    // Options.Remote
}

// price is the cost of one part of a round.
type price struct {
	base    float64 // the price at load 1, in the unit of its ledger
	samples int     // durations that base was learned from; of a nominal price: rehearsals
}

const (
	// As long as a price has at most rehearsals samples, its base is the smallest of them, because
	// disturbances only add time. Later these samples count together as one sample of a running mean:
	// they came in quick succession, so one disturbance may have touched all of them.
	rehearsals = 3
	// The surprise of a sample is its relative difference from the expected duration. A sample multiplies the load
	// by 1 + loadGain·surprise. So 15 samples, of which a round gives one to three, bring the load two thirds of
	// the way to a new value nearby. The way to a distant one takes longer (mostSurprise).
	loadGain = 0.07
	// mostSurprise limits the surprise of one sample, because machines sometimes stall.
	mostSurprise = 0.25
)

// take learns a price from a duration of x milliseconds.
func (c *costs) take(p *price, x float64) {
	base := x / c.load
	switch p.samples++; {
	case p.samples == 1:
		p.base = base
	case p.samples <= rehearsals:
		p.base = min(p.base, base)
	case p.base > 0:
		surprise := max(-mostSurprise, min(mostSurprise, base/p.base-1))
		c.load *= 1 + loadGain*surprise
		p.base *= 1 + surprise/min(float64(p.samples-rehearsals+1), memory)
	}
}

func (c *costs) observe(o Observation) {
	for len(c.passes) <= o.Drafted {
		c.passes = append(c.passes, price{})
	}
	c.take(&c.passes[o.Drafted], o.VerifyMS)
	if o.Read > 0 {
		c.take(&c.read, o.ReadMS/float64(o.Read))
	}
	switch drafts := o.Drafted > 0 && !o.Forced && o.DraftMS > 0; {
	case drafts && o.Pending <= 2:
		c.take(&c.step, o.DraftMS/float64(o.Drafted))
	case drafts && o.Pending > fewPending && c.step.samples > 0:
		if read := o.DraftMS - c.steps(o.Drafted); read > 0 {
			c.take(&c.read, read/float64(o.Pending-1))
		}
	}
}

// If the first draft step reads more than fewPending committed tokens, the time of the draft minus the expected
// time of its steps is the cost of reading these tokens. The cost of reading fewer tokens is too small to be
// measured.
const fewPending = 9

// of returns the expected cost of a round that drafts gamma tokens.
func (c *costs) of(gamma int) float64 { return c.steps(gamma) + c.pass(gamma) }

// steps returns the expected cost of n draft steps.
func (c *costs) steps(n int) float64 { return float64(n) * c.step.base * c.load }

// reading returns the expected cost of reading tokens that the proposer missed. Before any reading
// was measured, a token is assumed to cost a draft step, which is the most it can cost.
func (c *costs) reading(tokens int) float64 {
	if c.read.samples == 0 {
		return c.steps(tokens)
	}
	return float64(tokens) * c.read.base * c.load
}

// pass returns the expected cost of a round with gamma draft tokens, which is gamma+1 rows, without the
// cost of drafting. If gamma was not measured, pass returns the cost of the next shorter measured length.
// That is a lower bound, so gamma looks good, is tried and gets measured. But if gamma has more than twice
// the rows of the measured length, trying it could cost too much, so pass returns infinity. If a longer
// pass was cheaper than a shorter one, pass returns the cost of the longer pass for both lengths. More
// rows never cost less, so the samples of the shorter pass were disturbed. Across a network a try costs
// too much, so pass estimates a length that was not measured from two measured ones.
func (c *costs) pass(gamma int) float64 {
	if c.remote && !c.measured(gamma) {
		if cost, ok := c.line(gamma); ok {
			return cost
		}
	}
	least := math.Inf(1)
	for i, p := range slices.Backward(c.passes) {
		if p.samples > 0 {
			least = min(least, p.base)
		}
		if i <= gamma && c.measured(i) {
			if gamma+1 > 2*(i+1) {
				return math.Inf(1)
			}
			return least * c.load
		}
	}
	return 1 // nothing is known, so there is nothing to compare with
}

// line estimates the cost of a pass whose length was not measured: by the straight line through the next shorter
// and the next longer measured length or, if there is no longer one, through the two longest. ok is false if
// fewer than two lengths were measured.
func (c *costs) line(gamma int) (cost float64, ok bool) {
	below, above := -1, -1
	for i := range c.passes {
		if c.measured(i) && (above < 0 || above < gamma) {
			below, above = above, i
		}
	}
	if below < 0 {
		return 0, false
	}
	row := (c.pass(above) - c.pass(below)) / float64(above-below)
	return c.pass(below) + float64(gamma-below)*row, true
}

// measured reports whether passes with gamma draft tokens were measured. One sample is not enough,
// because the machine may have stalled. For a plain pass one is enough, because there is no shorter
// pass to take its cost from. Across a network one is enough, too, because another sample would cost a
// round trip.
func (c *costs) measured(gamma int) bool {
	return gamma < len(c.passes) && (c.passes[gamma].samples > 1 || (gamma == 0 || c.remote) && c.passes[gamma].samples == 1)
}

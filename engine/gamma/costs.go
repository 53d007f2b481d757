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
// Times change together: other programs use the machine, the clock rate falls, the context grows. A part
// that has not run for a while would keep its old price, and look cheap on a machine that has become slow.
// So duration = base · load, with one base a part and one load. The load follows quickly, and a base slowly
// once it has some samples.
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
	// Up to rehearsals samples, a base is the smallest of them, because disturbances only add time. Later
	// these samples count together as one sample of a running mean: they came in quick succession, so one
	// disturbance may have touched all of them.
	rehearsals = 3
	// The surprise of a sample is its relative difference from the expected duration, limited to mostSurprise
	// because machines sometimes stall. It multiplies the load by 1 + loadGain·surprise. So 15 samples, of
	// which a round gives one to three, bring the load two thirds of the way to a new value nearby.
	loadGain, mostSurprise = 0.07, 0.25
	// If the first draft step reads more than fewPending committed tokens, the time of the draft minus the
	// expected time of its steps is what reading these tokens cost. Reading fewer tokens takes too little
	// time to be measured.
	fewPending = 9
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
	switch extra := o.DraftMS - c.steps(o.Drafted); {
	case o.Drafted == 0 || o.Forced || o.DraftMS <= 0:
	case o.Pending <= 2:
		c.take(&c.step, o.DraftMS/float64(o.Drafted))
	case o.Pending > fewPending && c.step.samples > 0 && extra > 0:
		c.take(&c.read, extra/float64(o.Pending-1))
	}
}

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

// pass returns the expected cost of a round with gamma draft tokens, without the cost of drafting. A length
// that was not measured gets the cost of the next shorter measured one: it looks good, is tried and gets
// measured. But a try of more than twice the rows could cost too much, so such a length costs infinity. Across
// a network each try costs too much, so its cost is estimated instead (line).
//
// More rows never cost less. If a longer pass was cheaper than a shorter one, the samples of the shorter one
// were disturbed, so pass returns the cost of the longer one for both.
func (c *costs) pass(gamma int) float64 {
	if c.remote && gamma > 0 && !c.measured(gamma) {
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

// line estimates the cost of a pass that was not measured: by the straight line through the next shorter and
// the next longer measured length or, if there is no longer one, through the two longest. ok is false if fewer
// than two lengths were measured.
func (c *costs) line(gamma int) (cost float64, ok bool) {
	below, above := -1, -1
	for i := range c.passes {
		if c.measured(i) && (above < gamma || below < 0) {
			below, above = above, i
		}
	}
	if below < 0 {
		return 0, false
	}
	row := (c.pass(above) - c.pass(below)) / float64(above-below)
	return c.pass(below) + float64(gamma-below)*row, true
}

// measured reports whether passes with gamma draft tokens were measured. One sample is not enough, because
// the machine may have stalled. It is enough for a plain pass, which has no shorter one to take its cost
// from, and across a network, where another sample would cost a round trip.
func (c *costs) measured(gamma int) bool {
	least := 2
	if gamma == 0 || c.remote {
		least = 1
	}
	return gamma < len(c.passes) && c.passes[gamma].samples >= least
}

package gamma

import (
	"fmt"
	"math"
)

// lookUp wants as much as can be found, because looking costs nothing and what is found tells better than any average how much of it is worth
// verifying. That holds for some rounds, until something was found and verified: on small models to weigh takes longer than to look.
func (c *Controller) lookUp() Decision {
	c.words = words{}
	if d, ok := c.probePlain(c.best(0)); ok {
		return d
	}
	c.rest, c.swayed = restLasts, false
	return Decision{Gamma: c.options.Max, Why: "looking up costs nothing: as much as is found and worth its rows"}
}

// Trim decides about a draft that costs nothing to make, such as a continuation that was looked up: how many of its tokens are
// worth the rows that verify them, given how sure the proposer is of each. It returns less than the whole draft with the reason in
// words. Only the cost-aware rule trims. What is left out must not depend on chance: for drafts that were looked
// up it does not.
//
// Looked-up drafts are good or bad by how they were found, so every confidence has an acceptance of its own. It is hoped to hold until
// tried, and hoped for anew after a while: a draft that needs no model is worth a try now and then.
func (c *Controller) Trim(confidence []float64) (gamma int, why string) {
	n := min(len(confidence), c.options.Max)
	if c.options.Rule != CostAware {
		return n, ""
	}
	best, highest := 0, (1+margin)/c.cost(0)
	tokens, reach := 1.0, 1.0
	for i, q := range confidence[:n] {
		reach *= c.lookups.hoped(q)
		tokens += reach
		if rate := tokens / c.cost(i+1); rate > highest {
			best, highest = i+1, rate
		}
	}
	if best == n {
		return n, ""
	}
	why = c.lookups.why(trimmed{best, n, int(math.Round(100 * c.lookups.hoped(confidence[best])))})
	c.lookups.fade(confidence[best])
	return best, why
}

// trimmed is what is said of a draft that was cut.
type trimmed struct{ kept, found, percent int }

// why says it in words, which last while the same is to be said: putting them together takes as long as looking up did.
func (l *lookups) why(t trimmed) string {
	if l.said == "" || l.about != t {
		l.said, l.about = fmt.Sprintf("%d of %d tokens looked up are worth their rows: the next one holds with %d %%", t.kept, t.found, t.percent), t
	}
	return l.said
}

// hoped is the probability that a looked-up token of this confidence is accepted, after those before it were.
func (l *lookups) hoped(confidence float64) float64 {
	b := l.bins[bin(confidence)]
	return (startRate + b.weight*b.mean) / (1 + b.weight)
}

// fade lets what is known of a confidence count for less, because it was not tried.
func (l *lookups) fade(confidence float64) {
	l.bins[bin(confidence)].weight *= 1 - lookupFading
}

// lookups learns how often what was looked up with a certain confidence is accepted. Luck comes in runs here: a reply begins to repeat
// something, and stops. So it forgets quickly.
type lookups struct {
	bins  [confidenceBins]rate
	said  string // last, of what about says
	about trimmed
}

// lookupMemory bounds the observations that an estimate rests on.
const lookupMemory = 8

func (l *lookups) observe(o Observation) {
	for i := range min(o.Tested, len(o.Confidence)) {
		b := &l.bins[bin(o.Confidence[i])]
		b.observe(o.held(i))
		b.weight = min(b.weight, lookupMemory)
	}
}

// lookupFading is the share of its weight that what is known of a confidence loses each time it is left out: so that a try, which costs
// about a row, comes once in a hundred such rounds.
const lookupFading = 0.002

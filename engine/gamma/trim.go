package gamma

import (
	"fmt"
	"math"
)

// lookUp asks for Max tokens. Looking up costs nothing, and what is found tells better than any
// average how much of it to verify (see Trim). The decision holds for restLasts rounds or until a
// draft was verified, because on small models making it takes longer than looking up.
func (c *Controller) lookUp() Decision {
	c.words = words{}
	if d, ok := c.probePlain(c.best(0)); ok {
		return d
	}
	c.rest, c.swayed = restLasts, false
	return Decision{Gamma: c.options.Max, Why: "looking up costs nothing: as much as is found and worth its rows"}
}

// Trim decides how many tokens of a looked-up draft are worth the rows that verify them, given the
// proposer's confidence in each. If it returns fewer than all, why gives the reason in words. Only
// the cost-aware rule trims. Trimming by confidence keeps the output exact only if the draft does
// not depend on chance, which is true for looked-up drafts.
//
// Each range of confidence has an acceptance of its own, because the quality of a looked-up draft
// depends on how it was found. An untried confidence is assumed to be good, and one that was left
// out for a while becomes so again: a draft that needs no model is worth a try now and then.
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

// trimmed is what the reason for a cut says.
type trimmed struct{ kept, found, percent int }

// why puts a cut into words. It keeps the last text, because formatting takes as long as looking
// up.
func (l *lookups) why(t trimmed) string {
	if l.said == "" || l.about != t {
		l.said, l.about = fmt.Sprintf("%d of %d tokens looked up are worth their rows: the next one holds with %d %%", t.kept, t.found, t.percent), t
	}
	return l.said
}

// hoped returns the expected acceptance of a looked-up token of this confidence, given that those
// before it were accepted.
func (l *lookups) hoped(confidence float64) float64 {
	b := l.bins[bin(confidence)]
	return (startRate + b.weight*b.mean) / (1 + b.weight)
}

// fade lowers the weight of what is known about a confidence, because it was not tried.
func (l *lookups) fade(confidence float64) {
	l.bins[bin(confidence)].weight *= 1 - lookupFading
}

// lookups learns how often a looked-up token of a certain confidence is accepted. It forgets
// quickly, because repetition comes in bursts: a reply starts to repeat something, and stops.
type lookups struct {
	bins  [confidenceBins]rate
	said  string // the last text, which is about the cut in about
	about trimmed
}

// lookupMemory is the largest number of observations that an estimate rests on.
const lookupMemory = 8

func (l *lookups) observe(o Observation) {
	for i := range min(o.Tested, len(o.Confidence)) {
		b := &l.bins[bin(o.Confidence[i])]
		b.observe(o.held(i))
		b.weight = min(b.weight, lookupMemory)
	}
}

// lookupFading is the share of its weight that an estimate loses each time its confidence is left
// out. So a try, which costs about one row, comes once in about a hundred such rounds.
const lookupFading = 0.002

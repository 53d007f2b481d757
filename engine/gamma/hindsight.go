package gamma

// hindsight holds what the current reply has shown so far, to tell which fixed γ would have been
// best in it.
type hindsight struct {
	tested, kept []float64 // by position, of those that were reached; kept may be fractions
	tokens       float64   // committed by all rounds
	drafted      []int     // number of rounds by the number of tokens drafted
	rounds       int
}

const (
	hindsightRounds = 16 // before that many rounds a reply has shown too little
	hindsightTests  = 4  // with fewer tests of a position, the general estimate is used
)

func (h *hindsight) observe(o Observation) {
	for i := range o.Tested {
		if i == len(h.tested) {
			h.tested, h.kept = append(h.tested, 0), append(h.kept, 0)
		}
		h.tested[i]++
		h.kept[i] += o.held(i)
	}
	h.rounds++
	h.tokens += float64(o.Accepted + 1)
	for len(h.drafted) <= o.Drafted {
		h.drafted = append(h.drafted, 0)
	}
	h.drafted[o.Drafted]++
}

// cost prices the rounds of the reply in the same way as those of a fixed γ. Measured times would
// not compare: a round that other programs disturbed would count against the choice of γ. Reading
// is left out, because every fixed γ > 0 would have paid for it as well.
func (h *hindsight) cost(of func(drafted int) float64) (sum float64) {
	for drafted, rounds := range h.drafted {
		if rounds > 0 {
			sum += float64(rounds) * of(drafted)
		}
	}
	return sum
}

// BeginReply starts a new reply and drops what counted for the last one alone.
func (c *Controller) BeginReply() {
	c.hindsight = hindsight{}
	if c.swayed {
		c.rest = 0
	}
	for _, e := range c.known {
		e.acceptance.begin()
	}
	c.replies.begin()
}

// Hindsight returns the fixed γ that would have been fastest in this reply so far, and the share of
// the reply's time that it would have saved. It uses the acceptance seen in this reply and the
// learned costs. The share is negative if choosing γ each round, or ending drafts early, was faster
// than any fixed γ. ok is false until the reply has shown enough.
func (c *Controller) Hindsight() (best int, regret float64, ok bool) {
	h := &c.hindsight
	took := h.cost(c.costs.of)
	if h.rounds < hindsightRounds || took <= 0 || len(c.believedCost) == 0 {
		return 0, 0, false
	}
	tokens, reach, highest := 1.0, 1.0, 0.0
	for gamma := range c.believedCost {
		if rate := tokens / c.costs.of(gamma); rate > highest {
			best, highest = gamma, rate
		}
		held := c.acceptance.at(gamma)
		if gamma < len(h.tested) && h.tested[gamma] >= hindsightTests {
			held = h.kept[gamma] / h.tested[gamma]
		}
		reach *= held
		tokens += reach
	}
	return best, 1 - h.tokens/highest/took, true
}

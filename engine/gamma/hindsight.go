package gamma

// hindsight holds what a reply has shown so far, to tell which fixed γ would have been best in it.
type hindsight struct {
	tested, kept []float64 // by position, of those reached; kept may be a chance
	tokens       float64   // of all rounds
	drafted      []int     // rounds by how many tokens they drafted
	rounds       int
}

const (
	hindsightRounds = 16 // before which a reply has shown too little
	hindsightTests  = 4  // of a position, before which the general estimate stands in
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

// cost prices the reply's rounds as the fixed γ are priced. What the clock said of them would not compare: a round that
// others disturbed would count against the choice of γ. Reading is left out: any fixed γ would have paid for it, too.
func (h *hindsight) cost(of func(drafted int) float64) (sum float64) {
	for drafted, rounds := range h.drafted {
		if rounds > 0 {
			sum += float64(rounds) * of(drafted)
		}
	}
	return sum
}

// BeginReply forgets what only the reply before has shown.
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

// Hindsight returns the γ that would have been fastest so far in this reply had it never changed, and the share of the reply's time
// that it would have saved, by the acceptance seen in this reply and by measured costs; negative where choosing anew each round,
// or ending drafts early, has been faster than any fixed γ. ok is false until there is enough to tell.
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

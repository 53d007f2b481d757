package gamma

import "fmt"

// choosy learns how much better drafts do that end where they stop being promising than drafts of full length, of which alone the
// acceptance by position tells. It compares what both bring by what is believed of each token, not by luck.
type choosy struct {
	tokens, cost         float64 // of choosy rounds, expected of the tokens that were let pass
	fullTokens, fullCost float64 // of the same rounds, had they drafted all they were asked for
	rounds               float64
}

const (
	choosyMemory = 0.99 // what a round still counts for one round later
	choosyPrior  = 10   // rounds that count for no gain at all
	choosyMost   = 2
)

func (s *choosy) observe(tokens, cost, fullTokens, fullCost float64) {
	s.tokens = s.tokens*choosyMemory + tokens
	s.cost = s.cost*choosyMemory + cost
	s.fullTokens = s.fullTokens*choosyMemory + fullTokens
	s.fullCost = s.fullCost*choosyMemory + fullCost
	s.rounds = s.rounds*choosyMemory + 1
}

// gain is a factor on the rate of speculative rounds.
func (s *choosy) gain() float64 {
	if s.rounds == 0 {
		return 1
	}
	seen := s.tokens / s.cost * s.fullCost / s.fullTokens
	return max(1, min(choosyMost, (s.rounds*seen+choosyPrior)/(s.rounds+choosyPrior)))
}

// dropped is a token that Worth ended a draft in front of.
type dropped struct {
	place   int
	promise float64
	chance  float64
}

// Worth says, before draft token i of the round (from 0) is drawn from a distribution whose highest probability is promise, why it is
// not worth a row of the target's pass, or "" if it is. The draft step for it has been paid. It is asked in order of tokens, and
// answers by the rule of Continue.
func (c *Controller) Worth(i int, promise float64) string {
	r := &c.round
	r.asked = true
	chance := c.promise.chance(promise, c.acceptance.at(i))
	if c.options.Rule == CostAware && !r.Probe {
		gain, reach := 0.0, r.reach*chance
		pays := false
		for next := i; next < r.Gamma && !pays; next++ {
			if next > i {
				reach *= c.acceptance.at(next)
			}
			gain += reach
			price := c.costs.of(next+1) - c.costs.spent(i, 1)
			pays = gain >= price*r.tokensPerCost
		}
		if !pays {
			r.dropped = &dropped{place: i, promise: promise, chance: chance}
			return fmt.Sprintf("the draft gives its best token %.0f %%, which holds with %.0f %%: it adds %.2f tokens, and its row is worth %.2f",
				100*promise, 100*chance, r.reach*chance, (c.costs.pass(i+1)-c.costs.pass(i))*r.tokensPerCost)
		}
	}
	r.passed++
	r.hope *= chance
	r.tokens += r.hope
	return ""
}

// observeDropped learns from a round in which Worth was asked.
func (c *Controller) observeDropped(o Observation) {
	r := &c.round
	if d := r.dropped; d != nil {
		c.promise.fade(d.promise)
		if o.Accepted == o.Drafted && o.Drafted == d.place {
			c.acceptance.soften(d.place, d.chance)
		}
	}
	if r.asked && !r.Probe && r.Gamma > 0 {
		c.choosy.observe(r.tokens, c.costs.spent(r.passed, o.Dropped), r.Expected, c.costs.of(r.Gamma))
	}
}

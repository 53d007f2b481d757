package spec

import "specula/engine/sample"

// comparison judges one draft by all rules, and reads each row once.
type comparison struct {
	evidence evidence
	rules    []acceptance // one for each of Rules; only one at temperature 0, where all rules agree
	weighed  []int        // for each of Rules: how many rows the rule has seen
	done     []bool       // for each of Rules: whether the rule needs no more rows
}

func (v *Verifier) compare(draft Draft, terms Terms) *comparison {
	c := &v.others
	c.weighed, c.done, c.rules = make([]int, len(Rules)), make([]bool, len(Rules)), c.rules[:0]
	c.evidence = evidence{draft: draft, terms: terms, judged: c.evidence.judged[:0]}
	for _, id := range draft.Tokens {
		c.evidence.judged = append(c.evidence.judged, unjudged(id))
		if terms.stops(id) {
			break
		}
	}
	for _, rule := range Rules {
		c.rules = append(c.rules, v.acceptance(rule.Rule, terms.Params))
		if terms.Params.Temperature == 0 {
			break
		}
	}
	for _, rule := range c.rules {
		rule.begin()
	}
	return c
}

// weigh shows row i to the rules that are not done. A rule must see all rows in order: after a row that
// could not be read, it sees no later row.
func (c *comparison) weigh(i int, p sample.Dist) {
	if i >= len(c.evidence.judged) {
		return
	}
	for k, rule := range c.rules {
		if !c.done[k] && c.weighed[k] == i {
			c.weighed[k]++
			c.done[k] = !rule.weigh(&c.evidence, i, p)
		}
	}
}

func (c *comparison) kept() []int {
	n := make([]int, len(Rules))
	for k := range n {
		of := min(k, len(c.rules)-1)
		n[k] = c.rules[of].settle(&c.evidence, c.weighed[of])
	}
	return n
}

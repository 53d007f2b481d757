package spec

import "specula/engine/sample"

// equality is every rule at temperature 0, where p is one-hot: a draft token stays iff it is the
// target's best token. It compares ids and knows no probabilities.
type equality struct {
	kept int
	best int32
}

func (g *equality) begin() { g.kept = 0 }

func (g *equality) weigh(e *evidence, i int, p sample.Dist) bool {
	if g.best = p.Hot; g.best != e.judged[i].ID {
		return false
	}
	g.kept++
	return true
}

func (g *equality) settle(*evidence, int) int { return g.kept }

func (g *equality) replace(*evidence, int) Judged { return unjudged(g.best) }

func (g *equality) follow(_ *evidence, _ int, p sample.Dist) Judged { return unjudged(p.Hot) }

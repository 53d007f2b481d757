package gpu

import (
	"specula/engine/compute"
	"specula/gpu/driver"
)

// judgement returns the operation that judges a draft as compute.Sampling.Judgement says. r is that of
// EachToken; all others read the same rows.
func (d *drawing) judgement(r reject) operation {
	if d.by.Judgement == compute.OwnDraws {
		return matchDraws{r}
	}
	return r
}

// matchDraws lets the target draw a token in each row, and accepts the draft tokens that are the same.
type matchDraws struct{ reject }

func (o matchDraws) launch() launch {
	const mostWarps = 32
	return launchOf("match_draws", driver.Shape{Grid: [3]int{1}, Block: [3]int{32 * min(o.n+1, mostWarps)}},
		address(o.p.weights), address(o.p.sums), address(o.q.weights), address(o.q.sums), address(o.drafts), address(o.round),
		address(o.results), whole(o.n), whole(o.p.vocab), whole(o.q.vocab))
}

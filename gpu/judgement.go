package gpu

import (
	"specula/engine/compute"
	"specula/gpu/driver"
)

// judgement returns the operation that judges a draft as compute.Sampling.Judgement says. r is that of
// EachToken; all others read the same rows.
func (d *drawing) judgement(r reject) operation {
	switch d.by.Judgement {
	case compute.OwnDraws:
		return matchDraws{r}
	case compute.WholeBlock:
		return judgeBlock{r}
	}
	return r
}

// resultBytes is the size of a verdict about n draft tokens: a word of 8 bytes for each row, and a bound of 4
// for each draft token if there are bounds.
func (d *drawing) resultBytes(n int) int {
	if d.by.Judgement == compute.WholeBlock {
		return 8*(n+1) + 4*n
	}
	return 8 * (n + 1)
}

// restRows is the number of rows with a residual of their own, in a pass of some rows.
func restRows(rows int) int { return max(1, min(rows-1, compute.MostDrafts)) }

// matchDraws lets the target draw a token in each row, and accepts the draft tokens that are the same.
type matchDraws struct{ reject }

func (o matchDraws) launch() launch {
	const mostWarps = 32
	return launchOf("match_draws", driver.Shape{Grid: [3]int{1}, Block: [3]int{32 * min(o.n+1, mostWarps)}},
		address(o.p.weights), address(o.p.sums), address(o.q.weights), address(o.q.sums), address(o.drafts), address(o.round),
		address(o.results), whole(o.n), whole(o.p.vocab), whole(o.q.vocab))
}

// judgeBlock judges a draft as a whole. The bounds follow the words of the results.
type judgeBlock struct{ reject }

func (o judgeBlock) launch() launch {
	const warps = 4 // as in reject
	return launchOf("judge_blocks",
		driver.Shape{Grid: [3]int{ceilDivide(slicesOf(o.p.vocab), warps), max(1, o.n), 1}, Block: [3]int{32 * warps}},
		address(o.p.weights), address(o.p.sums), address(o.q.weights), address(o.q.sums), address(o.drafts), address(o.round),
		address(o.sums), address(o.arrived), address(o.results), address(o.results+driver.Pointer(8*(o.n+1))), whole(o.n), whole(o.p.vocab),
		whole(o.q.vocab))
}

package gpu

import "specula/gpu/driver"

// The operations that choose tokens from scores, and judge drafts.

// sliceTokens is how many scores of a row make a slice, which one warp or one block looks at. See
// kernels/cuda/src/rank.h.
const sliceTokens = 1024

// slicesOf is the number of slices of a row.
func slicesOf(vocab int) int { return ceilDivide(vocab, sliceTokens) }

// findPeaks finds the best score of each slice of each row.
type findPeaks struct {
	scores      driver.Pointer // (rows, vocab)
	peaks       driver.Pointer // (rows, slices) keys of 8 bytes
	rows, vocab int
}

func (o findPeaks) launch() launch {
	return launchOf("peak_rows", warpEach(slicesOf(o.vocab), o.rows), address(o.scores), address(o.peaks),
		whole(o.vocab))
}

// chooseBest writes the best id of each row to ids, or −1 for a row whose scores are not finite. If
// feed is not 0, it also writes the ids there for the next pass, with 0 instead of −1.
type chooseBest struct {
	peaks       driver.Pointer // (rows, slices), as findPeaks leaves them
	ids, feed   driver.Pointer // (rows) int32
	rows, vocab int
}

func (o chooseBest) launch() launch {
	return launchOf("argmax_rows", driver.Shape{Grid: [3]int{o.rows}, Block: [3]int{32}},
		address(o.peaks), address(o.ids), address(o.feed), whole(o.vocab))
}

// acceptBest compares a draft with the target's best ids.
type acceptBest struct {
	drafts  driver.Pointer // (n) int32
	best    driver.Pointer // (n+1) int32
	verdict driver.Pointer // (n+1) int32: the draft, then the verdict's word (see acceptedShift)
	n       int
}

func (o acceptBest) launch() launch {
	return launchOf("accept_greedy", driver.Shape{Grid: [3]int{1}, Block: [3]int{32}},
		address(o.drafts), address(o.best), address(o.verdict), whole(o.n))
}

// scoreRows are rows of scores that sampling reads.
type scoreRows struct {
	scores, peaks driver.Pointer // as in findPeaks
	filters       driver.Pointer // filterWords words
	rows, vocab   int
}

// fillBins divides the scores of each row into bins. For each bin it counts them (for top-k) or adds up their
// masses (for top-p alone).
type fillBins struct {
	scoreRows
	found driver.Pointer // cuda.CutBytes for each row, all 0 before; a cut makes them 0 again
}

func (o fillBins) launch() launch {
	return launchOf("bin_rows", sliceEach(256, o.scoreRows), address(o.scores), address(o.peaks), address(o.filters),
		address(o.found), whole(o.vocab))
}

// cut finds for each row the lowest key that top-k and top-p leave. A key is a score together with its token.
// cut reads what fillBins has found.
type cut struct {
	fillBins
	cuts driver.Pointer // (rows) keys of 8 bytes
}

func (o cut) launch() launch {
	return launchOf("cut_rows", sliceEach(512, o.scoreRows), address(o.scores), address(o.peaks), address(o.filters),
		address(o.found), address(o.cuts), whole(o.vocab))
}

// sliceEach is the shape with a block for each slice of each row.
func sliceEach(threads int, o scoreRows) driver.Shape {
	return driver.Shape{Grid: [3]int{slicesOf(o.vocab), o.rows}, Block: [3]int{threads}}
}

// weigh turns scores into weights.
type weigh struct {
	scoreRows
	cuts          driver.Pointer // the results of cut; 0: neither top-k nor top-p is on
	weights, sums driver.Pointer // rows of a weighing
}

func (o weigh) launch() launch {
	return launchOf("softmax_rows", warpEach(slicesOf(o.vocab), o.rows), address(o.scores),
		address(o.peaks), address(o.cuts), address(o.filters),
		address(o.weights), address(o.sums), whole(o.vocab))
}

// draw draws one draft token at random from a row of weights.
type draw struct {
	weights, sums driver.Pointer
	round         driver.Pointer // what the random numbers depend on, roundWords words (tokens.Sample)
	index         int            // which token of the draft it is, from 0
	chosen, fed   driver.Pointer // int32: see tokens
	chance        driver.Pointer // float32: the probability of the token
	vocab         int
}

func (o draw) launch() launch {
	const draftDraw = 0 // the random stream for draft tokens
	return launchOf("draw_rows", driver.Shape{Grid: [3]int{1, 1}, Block: [3]int{32}}, address(o.weights),
		address(o.sums), address(o.round),
		whole(draftDraw), whole(o.index), address(o.chosen), address(o.fed), address(o.chance), whole(o.vocab))
}

// reject accepts or rejects n draft tokens by the test u·q < p, and draws the residual or bonus token.
type reject struct {
	p, q    weighing       // of the target and of the draft
	drafts  driver.Pointer // (n) int32
	round   driver.Pointer // as in draw
	sums    driver.Pointer // (slices) sums of 16 bytes, of the residual; in judgeBlock (n, slices)
	arrived driver.Pointer // a counter of finished blocks, 0 between launches
	results driver.Pointer // (n+1) words of 8 bytes, which cuda.Rejection decodes
	n       int
}

func (o reject) launch() launch {
	const warps = 4 // each adds up a slice of the residual; more would leave multiprocessors without a block
	return launchOf("reject", driver.Shape{Grid: [3]int{ceilDivide(slicesOf(o.p.vocab), warps), 1}, Block: [3]int{32 * warps}},
		address(o.p.weights), address(o.p.sums), address(o.q.weights), address(o.q.sums),
		address(o.drafts), address(o.round), address(o.sums), address(o.arrived),
		address(o.results), whole(o.n), whole(o.p.vocab), whole(o.q.vocab))
}

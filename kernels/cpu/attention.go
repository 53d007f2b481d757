package cpu

const (
	// KeysPerSplit is the number of keys in a split of attention. Splits start at fixed absolute
	// positions and are combined in ascending order, so a row's result depends on its own position
	// alone.
	KeysPerSplit = 256
	// MaxHeadDim bounds the head size, so that the sums of a split fit on the stack.
	MaxHeadDim = 512
	// queriesAtOnce is the largest number of queries that read a key together.
	queriesAtOnce = 4
)

// Attention computes causal attention as ref.Attention defines it. An item is a few rows for one
// key head: queries that read the same keys are computed together, but each query has its own
// arithmetic.
type Attention struct {
	Dst      []float32 // (M, Heads·headDim)
	Q        []float32 // (M, Heads·headDim)
	KV       *KV       // with at least Position+M tokens
	M        int
	Position int // of row 0
	Heads    int
	Scale    float32
	Window   int     // number of keys that a row sees, its own last; 0: all before it
	SoftCap  float32 // a score s becomes SoftCap·tanh(s/SoftCap); 0: it stays s
}

// sharing returns the number of query heads that read one key head (grouped-query attention).
func (t *Attention) sharing() int { return t.Heads / t.KV.heads }

// rowsPerItem returns the rows of an item, so that it has four queries, or all that share a key
// head.
func (t *Attention) rowsPerItem() int { return max(1, queriesAtOnce/t.sharing()) }

// Items returns the number of items: blocks of rows, for each key head.
func (t *Attention) Items() int {
	rows := t.rowsPerItem()
	return (t.M + rows - 1) / rows * t.KV.heads
}

// Work estimates the number of multiplications.
func (t *Attention) Work() int {
	keys := t.Position + t.M
	if t.Window > 0 {
		keys = min(keys, t.Window+KeysPerSplit)
	}
	return 2 * t.M * t.Heads * t.KV.headDim * keys
}

// Do computes the items from … to−1.
func (t *Attention) Do(from, to int) {
	sharing, rows := t.sharing(), t.rowsPerItem()
	blocks := (t.M + rows - 1) / rows
	var scores [queriesAtOnce*KeysPerSplit + lineFloats]float32
	w := together{scores: (*splitScores)(aligned(scores[:]))}
	for item := from; item < to; item++ {
		kvHead, firstRow := item/blocks, item%blocks*rows
		count := min(rows, t.M-firstRow) * sharing
		for first := 0; first < count; first += queriesAtOnce {
			t.attend(&w, kvHead, firstRow*sharing+first, min(queriesAtOnce, count-first))
		}
	}
}

// together is the state of a few queries of one key head. Query j sees the keys from[j] …
// seen[j]−1; both bounds ascend with j.
type together struct {
	n       int
	from    [queriesAtOnce]int
	seen    [queriesAtOnce]int
	q, dst  queries
	largest [queriesAtOnce]float32 // largest score so far
	sum     [queriesAtOnce]float32 // of exp(score − largest)

	scores *splitScores
}

// splitValues are the weighted values of a split.
type splitValues [queriesAtOnce][MaxHeadDim]float32

// splitScores holds the scores of a split, and later its weights, KeysPerSplit per query.
type splitScores [queriesAtOnce * KeysPerSplit]float32

// attend computes n queries, starting at first, counted over the rows and heads that share kvHead.
// A split gives its largest score, Σ exp(score − largest), and the values weighted by these terms.
// To combine two splits, both are shifted to the larger maximum (the online softmax of
// FlashAttention).
func (t *Attention) attend(w *together, kvHead, first, n int) {
	sharing, headDim := t.sharing(), t.KV.headDim
	w.n = n
	for j := range n {
		row, head := (first+j)/sharing, kvHead*sharing+(first+j)%sharing
		offset := (row*t.Heads + head) * headDim
		w.seen[j] = t.Position + row + 1
		w.from[j] = t.firstKey(w.seen[j])
		w.q[j], w.dst[j] = &t.Q[offset], &t.Dst[offset]
		clear(w.dst.row(j, headDim))
	}
	start := splitOf(w.from[0])
	t.split(w, nil, kvHead, start)
	if next := start + KeysPerSplit; w.seen[n-1] > next {
		t.later(w, kvHead, next)
	}
	for j := range n {
		inverse := 1 / w.sum[j]
		times(w.dst.row(j, headDim), inverse)
	}
}

// firstKey returns the first key that a row sees, if it sees the keys before seen.
func (t *Attention) firstKey(seen int) int {
	if t.Window == 0 {
		return 0
	}
	return max(0, seen-t.Window)
}

// splitOf returns the first key of the split that a key belongs to.
func splitOf(key int) int { return key / KeysPerSplit * KeysPerSplit }

// later computes the splits from start on. Only a split after a query's first needs separate memory
// for values, which Go clears at each call.
func (t *Attention) later(w *together, kvHead, start int) {
	var values splitValues
	for ; start < w.seen[w.n-1]; start += KeysPerSplit {
		t.split(w, &values, kvHead, start)
	}
}

// split computes the keys from start on, at most KeysPerSplit, for the queries that see any of
// them: Σ exp(score − largest)·value in ascending order. The sum of the weights alone is taken in
// the lanes of ref.Dot.
func (t *Attention) split(w *together, values *splitValues, kvHead, start int) {
	first, last := 0, w.n
	for w.seen[first] <= start {
		first++
	}
	for w.from[last-1] >= start+KeysPerSplit {
		last--
	}
	var q, sums queries
	n, headDim := last-first, t.KV.headDim
	keys := min(w.seen[last-1]-start, KeysPerSplit)
	for j := range n {
		q[j], sums[j] = w.q[first+j], w.dst[first+j]
		if start > w.from[first+j] {
			clear(values[j][:headDim])
			sums[j] = &values[j][0]
		}
	}
	// Score whole blocks. The last one may hold keys that a row does not see.
	t.KV.score(w.scores[:], &q, n, kvHead, start, roundUp(keys, lanes)/lanes, t.Scale)
	var largests, weightSums [queriesAtOnce]float32
	var seen [queriesAtOnce]int
	for j := range n {
		seen[j] = min(w.seen[first+j]-start, KeysPerSplit)
	}
	if t.SoftCap > 0 || t.Window > 0 {
		t.capAndMask(w, &seen, first, n, start)
	}
	soften(w.scores, &seen, n, &largests, &weightSums)
	t.weigh(w.scores, &sums, &seen, n, kvHead, start)
	for j := range n {
		w.combine(first+j, largests[j], weightSums[j], sums.row(j, headDim), start <= w.from[first+j])
	}
}

// weigh adds the weighted values: first of the keys that all n queries see, then of those that all
// except the first see, and so on.
func (t *Attention) weigh(weights *splitScores, sums *queries, seen *[queriesAtOnce]int, n, kvHead, start int) {
	t.KV.sum(sums, weights[:], n, kvHead, start, seen[0])
	for j := 1; j < n; j++ {
		if more := seen[j] - seen[j-1]; more > 0 {
			rest := sums.from(j)
			t.KV.sum(&rest, weights[j*KeysPerSplit+seen[j-1]:], n-j, kvHead, start+seen[j-1], more)
		}
	}
}

// combine adds a split to the result of a query so far.
func (w *together) combine(j int, largest, sum float32, values []float32, isFirst bool) {
	if isFirst {
		w.largest[j], w.sum[j] = largest, sum
		return
	}
	both := max(w.largest[j], largest)
	before, here := exp(w.largest[j]-both), exp(largest-both)
	w.sum[j] = float32(w.sum[j]*before) + float32(sum*here)
	dst := w.dst.row(j, len(values))
	for d, v := range values {
		dst[d] = float32(dst[d]*before) + float32(v*here)
	}
	w.largest[j] = both
}

package cpu

const (
	// KeysPerSplit is the number of keys that attention handles at once. For every row, splits start at
	// multiples of KeysPerSplit and are combined in ascending order. So a row's bits do not depend on the
	// other rows of its pass.
	KeysPerSplit = 256
	// MaxKeyDim and MaxValueDim bound the size of a head, so that its key and the sums of a split fit
	// on the stack. The widest known keys are those of DeepSeek's latent attention, 512 + 64 numbers.
	MaxKeyDim, MaxValueDim = 576, 512
	// queriesAtOnce is the largest number of queries that read a key together. On some levels there
	// are only kernels for fewer (mostTogether).
	queriesAtOnce = 8
	// mostGroups is the largest number of groups of queries that read a split one after the other.
	// All groups but the first find the split in the second-level cache.
	mostGroups = 8
	// A split in half precision is converted to float32 before use if at least leastWidened groups
	// read it; with fewer groups, each converts it while reading. Heads of more than mostWidened
	// numbers are not converted before use: the converted split would not fit into the cache.
	leastWidened, mostWidened = 3, 128
	// itemsPerThread is how many items each thread should get: with several, threads end at about the
	// same time.
	itemsPerThread = 4
)

// Attention computes causal attention as ref.Attention defines it. An item is a block of rows with
// one key head. Queries that read the same keys share the reading, not the arithmetic. So a result
// does not depend on how rows are divided into items.
type Attention struct {
	Dst      []float32 // (M, Heads·ValueDim of KV)
	Q        []float32 // (M, Heads·KeyDim of KV)
	KV       *KV       // with at least Position+M tokens
	M        int
	Position int // of row 0
	Heads    int
	Scale    float32
	Window   int     // number of keys that a row sees, its own included; 0: all up to its own
	SoftCap  float32 // a score s becomes SoftCap·tanh(s/SoftCap); 0: it stays s
	// Sinks has, for each head, the score of one more key, whose value is 0. nil: no such key.
	Sinks   []float32
	Threads int // that share the items; below 1 counts as 1
}

// sharing returns the number of query heads that read one key head (grouped-query attention).
func (t *Attention) sharing() int { return t.Heads / t.KV.heads }

// rowsPerItem returns the number of rows in an item. The more rows, the more often a split is used
// after it was read from memory. The queries of an item fill a group, if there are so many rows.
func (t *Attention) rowsPerItem() int {
	group := max(1, queriesAtOnce/t.sharing())
	most := max(group, mostGroups*queriesAtOnce/t.sharing())
	items := itemsPerThread * max(t.Threads, 1)
	return min(roundUp((t.M*t.KV.heads+items-1)/items, group), most)
}

// Items returns the number of items: blocks of rows, for each key head.
func (t *Attention) Items() int {
	rows := t.rowsPerItem()
	return (t.M + rows - 1) / rows * t.KV.heads
}

// KeyHeads returns the number of key heads. The items of a key head follow each other.
func (t *Attention) KeyHeads() int { return t.KV.heads }

// Work estimates the number of multiplications.
func (t *Attention) Work() int {
	keys := t.Position + t.M
	if t.Window > 0 {
		keys = min(keys, t.Window+KeysPerSplit)
	}
	return t.M * t.Heads * (t.KV.keyDim + t.KV.valueDim) * keys
}

// Do computes the items from … to−1.
func (t *Attention) Do(from, to int) {
	// Use the smallest arrays that suffice, because Go clears them at every call.
	switch {
	case t.M*t.sharing() <= smallGroup:
		var scores [smallGroup*KeysPerSplit + lineFloats]float32
		var groups [1]together
		t.items(from, to, &scratch{groups: groups[:], scores: aligned(scores[:])})
	case t.widens():
		var scores [queriesAtOnce*KeysPerSplit + lineFloats]float32
		var groups [mostGroups]together
		// These are as large as Go lets a variable on the stack be, so there is no room to align them.
		var keys, values [KeysPerSplit * mostWidened]float32
		wide := KV{kept: KVF32, heads: 1, keyDim: t.KV.keyDim, valueDim: t.KV.valueDim, tokens: KeysPerSplit, keys: keys[:], values: values[:]}
		t.items(from, to, &scratch{groups: groups[:], scores: aligned(scores[:]), wide: &wide})
	default:
		var scores [queriesAtOnce*KeysPerSplit + lineFloats]float32
		var groups [mostGroups]together
		t.items(from, to, &scratch{groups: groups[:], scores: aligned(scores[:])})
	}
}

// smallGroup is the largest number of queries for which Do uses its smallest arrays.
const smallGroup = 4

// widens reports whether to convert splits before use: they are in half precision, items have enough
// groups, and there is more than one split.
func (t *Attention) widens() bool {
	return t.KV.kept == KVF16 && max(t.KV.keyDim, t.KV.valueDim) <= mostWidened && t.Position+t.M > KeysPerSplit &&
		t.rowsPerItem()*t.sharing() >= leastWidened*queriesAtOnce
}

// scratch is the memory of a thread.
type scratch struct {
	groups []together
	scores []float32 // KeysPerSplit per query of a group; soften turns them into weights
	wide   *KV       // a converted split of one head; nil: splits are not converted
}

func (t *Attention) items(from, to int, s *scratch) {
	sharing, rows := t.sharing(), t.rowsPerItem()
	blocks := (t.M + rows - 1) / rows
	most := len(s.groups) * queriesAtOnce
	for item := from; item < to; item++ {
		kvHead, firstRow := item/blocks, item%blocks*rows
		count := min(rows, t.M-firstRow) * sharing
		for first := 0; first < count; first += most {
			t.attend(s, kvHead, firstRow*sharing+first, min(most, count-first))
		}
	}
}

// together is the state of a group of queries of one key head. Query j sees the keys from[j] …
// seen[j]−1; both bounds ascend with j.
type together struct {
	n       int
	from    [queriesAtOnce]int
	seen    [queriesAtOnce]int
	q, dst  queries
	largest [queriesAtOnce]float32 // largest score so far
	sum     [queriesAtOnce]float32 // of exp(score − largest)
}

// end returns one more than the number of the last key that any query sees.
func (w *together) end() int { return w.seen[w.n-1] }

// splitValues are the weighted values of a split.
type splitValues [queriesAtOnce][MaxValueDim]float32

// attend computes n queries of kvHead, starting at query first (see rowAndHead). Each split gives
// its largest score, the sum of the weights exp(score − largest), and the weighted sum of values. To
// combine two splits, both are scaled to the larger maximum (the online softmax of FlashAttention).
func (t *Attention) attend(s *scratch, kvHead, first, n int) {
	groups := s.groups[:(n+queriesAtOnce-1)/queriesAtOnce]
	for i := range groups {
		at := i * queriesAtOnce
		t.begin(&groups[i], kvHead, first+at, min(queriesAtOnce, n-at))
	}
	start := splitOf(groups[0].from[0])
	t.over(groups, nil, s, kvHead, start)
	if next := start + KeysPerSplit; groups[len(groups)-1].end() > next {
		t.later(groups, s, kvHead, next)
	}
	for i := range groups {
		t.finish(&groups[i], kvHead, first+i*queriesAtOnce)
	}
}

// begin sets a group to the queries first … first+n−1 of kvHead (see rowAndHead).
func (t *Attention) begin(w *together, kvHead, first, n int) {
	w.n = n
	for j := range n {
		row, head := t.rowAndHead(kvHead, first+j)
		w.seen[j] = t.Position + row + 1
		w.from[j] = t.firstKey(w.seen[j])
		at := row*t.Heads + head
		w.q[j], w.dst[j] = &t.Q[at*t.KV.keyDim], &t.Dst[at*t.KV.valueDim]
		clear(w.dst.row(j, t.KV.valueDim))
	}
}

// rowAndHead returns the row and the head of query i of a key head. Queries are counted row by row.
func (t *Attention) rowAndHead(kvHead, i int) (row, head int) {
	sharing := t.sharing()
	return i / sharing, kvHead*sharing + i%sharing
}

// finish divides the weighted values of a group by the sum of their weights. first is the number of
// the group's first query. A sink is combined as the last split, with one key and the value 0.
func (t *Attention) finish(w *together, kvHead, first int) {
	for j := range w.n {
		factor := 1 / w.sum[j]
		if t.Sinks != nil {
			_, head := t.rowAndHead(kvHead, first+j)
			both := max(w.largest[j], t.Sinks[head])
			before, here := exp(w.largest[j]-both), exp(t.Sinks[head]-both)
			factor = before / (float32(w.sum[j]*before) + here)
		}
		times(w.dst.row(j, t.KV.valueDim), factor)
	}
}

// firstKey returns the first key that a row sees. seen is the row's position + 1.
func (t *Attention) firstKey(seen int) int {
	if t.Window == 0 {
		return 0
	}
	return max(0, seen-t.Window)
}

// splitOf returns the first key of the split that a key belongs to.
func splitOf(key int) int { return key / KeysPerSplit * KeysPerSplit }

// later computes the splits from start on. It is a function of its own because Go clears the variable
// values at every call, and a query's first split does not need this variable.
func (t *Attention) later(groups []together, s *scratch, kvHead, start int) {
	var values splitValues
	for ; start < groups[len(groups)-1].end(); start += KeysPerSplit {
		t.over(groups, &values, s, kvHead, start)
	}
}

// over computes the split that begins at start, for all groups that see any of its keys.
func (t *Attention) over(groups []together, values *splitValues, s *scratch, kvHead, start int) {
	for groups[0].end() <= start {
		groups = groups[1:]
	}
	for groups[len(groups)-1].from[0] >= start+KeysPerSplit {
		groups = groups[:len(groups)-1]
	}
	from := place{t.KV, kvHead, start}
	if s.wide != nil && len(groups) >= leastWidened {
		t.KV.widen(s.wide, kvHead, start, min(groups[len(groups)-1].end()-start, KeysPerSplit))
		from = place{s.wide, 0, 0}
	}
	for i := range groups {
		t.split(&groups[i], values, s.scores, from, start)
	}
}

// place is where keys and values of a split begin.
type place struct {
	kv          *KV
	head, token int
}

// split computes the split that begins at start, for the queries that see any of its keys. It adds
// exp(score − largest)·value in ascending order of keys. The weights alone are summed in the lanes
// of ref.Dot.
func (t *Attention) split(w *together, values *splitValues, scores []float32, from place, start int) {
	first, last := 0, w.n
	for w.seen[first] <= start {
		first++
	}
	for w.from[last-1] >= start+KeysPerSplit {
		last--
	}
	var q, sums queries
	n, valueDim := last-first, t.KV.valueDim
	keys := min(w.seen[last-1]-start, KeysPerSplit)
	for j := range n {
		q[j], sums[j] = w.q[first+j], w.dst[first+j]
		if start > w.from[first+j] {
			clear(values[j][:valueDim])
			sums[j] = &values[j][0]
		}
	}
	// Score whole blocks. The last one may hold keys that a row does not see.
	from.kv.score(scores, &q, n, from.head, from.token, roundUp(keys, lanes)/lanes, t.Scale)
	var largests, weightSums [queriesAtOnce]float32
	var seen [queriesAtOnce]int
	for j := range n {
		seen[j] = min(w.seen[first+j]-start, KeysPerSplit)
	}
	if t.SoftCap > 0 || t.Window > 0 {
		t.capAndMask(w, scores, &seen, first, n, start)
	}
	soften(scores, &seen, n, &largests, &weightSums)
	from.weigh(scores, &sums, &seen, n)
	for j := range n {
		w.combine(first+j, largests[j], weightSums[j], sums.row(j, valueDim), start <= w.from[first+j])
	}
}

// weigh adds the weighted values to the sums. It begins with the keys that all n queries see, goes on
// with the keys that all but the first query see, and so on.
func (p place) weigh(weights []float32, sums *queries, seen *[queriesAtOnce]int, n int) {
	p.kv.sum(sums, weights, n, p.head, p.token, seen[0])
	for j := 1; j < n; j++ {
		if more := seen[j] - seen[j-1]; more > 0 {
			rest := sums.from(j)
			p.kv.sum(&rest, weights[j*KeysPerSplit+seen[j-1]:], n-j, p.head, p.token+seen[j-1], more)
		}
	}
}

// combine adds a split to the result that query j has so far.
func (w *together) combine(j int, largest, sum float32, values []float32, isFirst bool) {
	if isFirst {
		w.largest[j], w.sum[j] = largest, sum
		return
	}
	both := max(w.largest[j], largest)
	before, here := exp(w.largest[j]-both), exp(largest-both)
	w.sum[j] = float32(w.sum[j]*before) + float32(sum*here)
	mix(w.dst.row(j, len(values)), values, before, here)
	w.largest[j] = both
}

package cpu

import "math"

const (
	// KeysPerSplit is the number of keys in a split of attention. Splits begin at fixed absolute positions and are combined in
	// ascending order, so a row's result depends on its own position alone.
	KeysPerSplit = 256
	// MaxHeadDim bounds the head size, so that a split's sums live on the stack.
	MaxHeadDim = 512
)

// Attention computes causal attention as ref.Attention defines it; item i·Heads+h is head h of row i.
type Attention struct {
	Dst      []float32 // (M, Heads·HeadDim)
	Q        []float32 // (M, Heads·HeadDim)
	Keys     []float32 // (Position+M, KVHeads·HeadDim)
	Values   []float32 // (Position+M, KVHeads·HeadDim)
	M        int
	Position int // of row 0
	Heads    int
	KVHeads  int
	HeadDim  int
	Scale    float32
}

// Items is the number of heads over all rows.
func (t *Attention) Items() int { return t.M * t.Heads }

// Work is about the number of multiplications.
func (t *Attention) Work() int { return 2 * t.M * t.Heads * t.HeadDim * (t.Position + t.M) }

// Do computes heads from … to−1, counted over all rows.
func (t *Attention) Do(from, to int) {
	for item := from; item < to; item++ {
		row, head := item/t.Heads, item%t.Heads
		offset := item * t.HeadDim
		kvOffset := head * t.KVHeads / t.Heads * t.HeadDim
		t.attend(t.Dst[offset:offset+t.HeadDim], t.Q[offset:offset+t.HeadDim], kvOffset, t.Position+row+1)
	}
}

// attend combines the splits of one head that sees the first seen keys. A split gives its largest score, Σ exp(score − largest) and the values
// weighted by these; shifting by the larger of two maxima makes two splits comparable (the online softmax of FlashAttention).
func (t *Attention) attend(dst, q []float32, kvOffset, seen int) {
	var partial [MaxHeadDim]float32
	values := partial[:t.HeadDim]
	largest, sum := t.split(dst, q, kvOffset, 0, min(KeysPerSplit, seen))
	for start := KeysPerSplit; start < seen; start += KeysPerSplit {
		splitLargest, splitSum := t.split(values, q, kvOffset, start, min(start+KeysPerSplit, seen))
		both := max(largest, splitLargest)
		before, here := exp(largest-both), exp(splitLargest-both)
		sum = float32(sum*before) + float32(splitSum*here)
		for d, v := range values {
			dst[d] = float32(dst[d]*before) + float32(v*here)
		}
		largest = both
	}
	inverse := 1 / sum
	for d := range dst {
		dst[d] *= inverse
	}
}

// split computes keys from … to−1, at most KeysPerSplit: dst = Σ exp(score − largest)·value, in ascending order.
func (t *Attention) split(dst, q []float32, kvOffset, from, to int) (largest, sum float32) {
	var buffer [KeysPerSplit]float32
	scores := buffer[:to-from]
	stride := t.KVHeads * t.HeadDim
	largest = float32(math.Inf(-1))
	for j := range scores {
		key := t.Keys[(from+j)*stride+kvOffset:][:len(q)]
		scores[j] = dot(key, q) * t.Scale
		largest = max(largest, scores[j]) // NaN wins
	}
	clear(dst)
	for j, score := range scores {
		weight := exp(score - largest)
		sum += weight
		addScaled(dst, t.Values[(from+j)*stride+kvOffset:][:len(dst)], weight)
	}
	return largest, sum
}

// addScaled adds factor·x to dst, four numbers at a time.
func addScaled(dst, x []float32, factor float32) {
	for len(dst) >= 4 && len(x) >= 4 {
		d, v := (*[4]float32)(dst), (*[4]float32)(x)
		d[0] += float32(v[0] * factor)
		d[1] += float32(v[1] * factor)
		d[2] += float32(v[2] * factor)
		d[3] += float32(v[3] * factor)
		dst, x = dst[4:], x[4:]
	}
	for i := range dst {
		dst[i] += float32(x[i] * factor)
	}
}

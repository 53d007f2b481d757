package cpu

import "math"

const (
	// KeysPerSplit is the number of keys in a split of attention. Splits begin at fixed absolute positions and are combined in
	// ascending order, so a row's result depends on its own position alone.
	KeysPerSplit = 256
	// MaxHeadDim bounds the head size, so that a split's sums live on the stack.
	MaxHeadDim = 512
)

// Attention computes causal attention as ref.Attention defines it; its items are the heads of all rows, those that read the same
// keys one behind the other.
type Attention struct {
	Dst      []float32 // (M, Heads·headDim)
	Q        []float32 // (M, Heads·headDim)
	KV       *KV       // of at least Position+M tokens
	M        int
	Position int // of row 0
	Heads    int
	Scale    float32
}

// Items is the number of heads over all rows.
func (t *Attention) Items() int { return t.M * t.Heads }

// Work is about the number of multiplications.
func (t *Attention) Work() int { return 2 * t.M * t.Heads * t.KV.headDim * (t.Position + t.M) }

// Do computes items from … to−1.
func (t *Attention) Do(from, to int) {
	sharing := t.Heads / t.KV.heads // query heads that read one key head (grouped-query attention)
	for item := from; item < to; item++ {
		kvHead, row := item/(sharing*t.M), item/sharing%t.M
		head := kvHead*sharing + item%sharing
		offset := (row*t.Heads + head) * t.KV.headDim
		t.attend(t.Dst[offset:][:t.KV.headDim], t.Q[offset:][:t.KV.headDim], kvHead, t.Position+row+1)
	}
}

// attend combines the splits of one head that sees the first seen keys. A split gives its largest score, Σ exp(score − largest) and the values
// weighted by these; shifting by the larger of two maxima makes two splits comparable (the online softmax of FlashAttention).
func (t *Attention) attend(dst, q []float32, kvHead, seen int) {
	var partial [MaxHeadDim]float32
	values := partial[:len(dst)]
	largest, sum := t.split(dst, q, kvHead, 0, min(KeysPerSplit, seen))
	for start := KeysPerSplit; start < seen; start += KeysPerSplit {
		splitLargest, splitSum := t.split(values, q, kvHead, start, min(start+KeysPerSplit, seen))
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

// split computes keys from … to−1, at most KeysPerSplit: dst = Σ exp(score − largest)·value, in ascending order. The sum of the
// weights alone is taken in the lanes of ref.Dot.
func (t *Attention) split(dst, q []float32, kvHead, from, to int) (highest, sum float32) {
	var buffer [KeysPerSplit]float32
	n := to - from
	scores := buffer[:roundUp(n, lanes)] // whole blocks, the last of which may hold keys that this row does not see
	t.KV.score(scores, q, kvHead, from, t.Scale)
	for i := n; i < len(scores); i++ {
		scores[i] = float32(math.Inf(-1))
	}
	highest = largest(scores)
	sum = expSum(scores, highest)
	t.KV.sum(dst, scores[:n], kvHead, from)
	return highest, sum
}

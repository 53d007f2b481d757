package ref

import "math"

// KeysPerSplit is the number of keys in a split of attention. Splits start at multiples of it.
const KeysPerSplit = 256

// Split is the result of a query over one split of the keys: the largest score, Σ p with p =
// exp(score − largest), and Σ p·value.
type Split struct {
	Largest, Sum float32
	Values       []float32 // (headDim)
}

// Head holds the keys and values of one key head for every token, (tokens, KeyDim) and (tokens, ValueDim).
type Head struct {
	Keys, Values     []float32
	KeyDim, ValueDim int
}

// Sight says which keys a query sees: of the first Seen keys the last Window, or all of them if
// Window is 0. A score is multiplied by Scale. Unless Cap is 0, the product s then becomes
// Cap·tanh(s/Cap). Sink, unless it is nil, is the score of one more key, whose value is 0.
type Sight struct {
	Seen, Window int
	Scale, Cap   float32
	Sink         *float32
}

// first is the first key that the query sees.
func (s Sight) first() int {
	if s.Window == 0 {
		return 0
	}
	return max(0, s.Seen-s.Window)
}

// capped bounds a score.
func (s Sight) capped(score float32) float32 {
	if s.Cap == 0 {
		return score
	}
	return CapRows(score, s.Cap)
}

// AttendHalf writes to dst the attention of the query q to those keys of a head that q sees, as tensor
// cores compute it. It computes each split alone, and then combines the splits. Keys, values, query and
// weights are rounded to half precision; sums are float32. The sums for scores and for values fuse each
// product with its addition, and take the products in chunks of 32 (dotInChunks). A tensor core adds a chunk
// in two instructions, j = 0 and 1, of 16 products each. The product that instruction j adds as number i,
// from 0 to 15, is number 8·((i%8)/2) + 4j + 2·(i/8) + i%2 of the chunk, where / drops the remainder.
func AttendHalf(dst, q []float32, h Head, sight Sight) {
	attendInSplits(dst, sight, func(start, keys int) Split {
		scores := make([]float32, keys)
		for j := range scores {
			key := h.Keys[(start+j)*h.KeyDim:][:h.KeyDim]
			scores[j] = sight.capped(dotInChunks(h.KeyDim,
				func(d int) (float32, float32) { return roundHalf(key[d]), roundHalf(q[d]) }) * sight.Scale)
		}
		s := weigh(scores, sight.first()-start, roundHalf, h.ValueDim)
		for d := range h.ValueDim {
			s.Values[d] = dotInChunks(keys, func(j int) (float32, float32) {
				return roundHalf(h.Values[(start+j)*h.ValueDim+d]), scores[j]
			})
		}
		return s
	})
}

// AttendFloat is AttendHalf with float32 keys, values, query and weights, and with other sums. The products
// of a score are added from the first number of the key to the last, the products of a value from the
// first key to the last. Both sums are fused.
func AttendFloat(dst, q []float32, h Head, sight Sight) {
	attendInSplits(dst, sight, func(start, keys int) Split {
		scores := make([]float32, keys)
		for j := range scores {
			sum := float32(0)
			for d, v := range q {
				sum = FMA(h.Keys[(start+j)*h.KeyDim+d], v, sum)
			}
			scores[j] = sight.capped(sum * sight.Scale)
		}
		s := weigh(scores, sight.first()-start, func(p float32) float32 { return p }, h.ValueDim)
		for j, p := range scores {
			for d := range s.Values {
				s.Values[d] = FMA(p, h.Values[(start+j)*h.ValueDim+d], s.Values[d])
			}
		}
		return s
	})
}

func attendInSplits(dst []float32, sight Sight, attend func(start, keys int) Split) {
	var splits []Split
	if sight.Sink != nil {
		splits = append(splits, Split{Largest: *sight.Sink, Sum: 1, Values: make([]float32, len(dst))})
	}
	for start := sight.first() / KeysPerSplit * KeysPerSplit; start < sight.Seen; start += KeysPerSplit {
		splits = append(splits, attend(start, min(KeysPerSplit, sight.Seen-start)))
	}
	CombineSplits(dst, splits)
}

// weigh replaces the scores of a split by their rounded weights. hidden is the number of keys before the
// window; they get the weight 0. The returned Split has the largest score of the other keys, the sum of
// all weights, and zeros for values. Key j belongs to lane j mod 32. A lane adds the weights of its keys
// in ascending order of keys, and WarpSum adds the sums of the lanes.
func weigh(scores []float32, hidden int, round func(float32) float32, headDim int) Split {
	largest := float32(math.Inf(-1))
	for _, v := range scores[max(hidden, 0):] {
		if v > largest {
			largest = v
		}
	}
	var sums [Warp]float32
	for j, v := range scores {
		if scores[j] = round(Exp(v - largest)); j < hidden {
			scores[j] = 0
		}
		sums[j%Warp] += scores[j]
	}
	return Split{Largest: largest, Sum: WarpSum(sums), Values: make([]float32, headDim)}
}

// CombineSplits writes the combination of the splits to dst: Σ values·f / Σ sum·f, with f =
// exp(largest − the largest of all splits). It adds the splits in their order in the slice.
func CombineSplits(dst []float32, splits []Split) {
	largest := float32(math.Inf(-1))
	for _, s := range splits {
		if s.Largest > largest {
			largest = s.Largest
		}
	}
	sum := float32(0)
	clear(dst)
	for _, s := range splits {
		f := Exp(s.Largest - largest)
		sum = FMA(s.Sum, f, sum)
		for d, v := range s.Values {
			dst[d] = FMA(v, f, dst[d])
		}
	}
	for d := range dst {
		dst[d] /= sum
	}
}

// dotInChunks adds the products of n pairs in the order in which tensor cores receive them (see
// AttendHalf). The last chunk is filled up with zeros.
func dotInChunks(n int, pair func(k int) (a, b float32)) float32 {
	sum := float32(0)
	for k := range (n + 31) / 32 * 32 {
		j, i := k%32/16, k%16
		if at := k/32*32 + 8*(i%8/2) + 4*j + 2*(i/8) + i%2; at < n {
			a, b := pair(at)
			sum = FMA(a, b, sum)
		}
	}
	return sum
}

func roundHalf(v float32) float32 { return FromHalf(ToHalf(v)) }

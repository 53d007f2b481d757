package ref

import "math"

// Attention writes causal attention of m query rows to dst (m, heads·headDim). q is (m,
// heads·headDim); keys and values are (position+m, kvHeads·headDim). Row i sees the keys 0 …
// position+i. Query head h reads key head h·kvHeads/heads (grouped-query attention). Source:
// Vaswani et al., Attention Is All You Need, 2017; Ainslie et al., GQA, 2023.
func Attention(dst []float64, q, keys, values []float32, m, position, heads, kvHeads, headDim int,
	scale float64) {
	WindowAttention(dst, q, keys, values, m, position, heads, kvHeads, headDim, scale, 0, 0)
}

// WindowAttention is Attention in which a row sees only the last window keys, its own included,
// unless window is 0, and a score s becomes limit·tanh(s/limit), unless limit is 0. Sources:
// Beltagy et al., Longformer, 2020; Gemma 2, 2024.
func WindowAttention(dst []float64, q, keys, values []float32, m, position, heads, kvHeads, headDim int,
	scale float64, window int, limit float64) {
	for i := range m {
		for h := range heads {
			seen := position + i + 1
			kvOffset := h * kvHeads / heads * headDim
			offset := (i*heads + h) * headDim
			scores := make([]float64, seen)
			for j := range seen {
				for d := range headDim {
					scores[j] += float64(q[offset+d]) * float64(keys[j*kvHeads*headDim+kvOffset+d]) * scale
				}
			}
			for j := range scores {
				if limit > 0 {
					scores[j] = limit * math.Tanh(scores[j]/limit)
				}
				if window > 0 && j < seen-window {
					scores[j] = math.Inf(-1)
				}
			}
			Softmax(scores)
			for d := range headDim {
				sum := 0.0
				for j, p := range scores {
					sum += p * float64(values[j*kvHeads*headDim+kvOffset+d])
				}
				dst[offset+d] = sum
			}
		}
	}
}

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

// WindowAttention is Attention with two changes. Unless window is 0, a row sees only the last
// window keys, its own included. Unless limit is 0, a score s becomes limit·tanh(s/limit). Sources:
// Beltagy et al., Longformer, 2020; Gemma 2, 2024.
func WindowAttention(dst []float64, q, keys, values []float32, m, position, heads, kvHeads, headDim int,
	scale float64, window int, limit float64) {
	a := Attend{
		Position: position, Heads: heads, KVHeads: kvHeads, KeyDim: headDim, ValueDim: headDim,
		Scale: scale, Window: window, Limit: limit,
	}
	a.Rows(dst, q, keys, values, m)
}

// Attend describes causal attention with everything that models add to it.
type Attend struct {
	Position, Heads, KVHeads int
	KeyDim, ValueDim         int // length of one key and of one value of a head
	Scale                    float64
	Window                   int     // number of keys that a row sees, its own included; 0: all up to its own
	Limit                    float64 // a score s becomes Limit·tanh(s/Limit); 0: it stays s
	// Sinks has, for each head, the score of one more key, whose value is 0. nil: no such key.
	// Source: the model card of gpt-oss, 2025.
	Sinks []float32
}

// Rows writes m rows, (m, Heads·ValueDim). q is (m, Heads·KeyDim), keys are (Position+m,
// KVHeads·KeyDim), values (Position+m, KVHeads·ValueDim).
func (a Attend) Rows(dst []float64, q, keys, values []float32, m int) {
	for i := range m {
		for h := range a.Heads {
			at, shared := i*a.Heads+h, h*a.KVHeads/a.Heads
			weights := a.weights(q[at*a.KeyDim:][:a.KeyDim], keys, shared, h, a.Position+i+1)
			for d := range a.ValueDim {
				sum := 0.0
				for j, p := range weights {
					sum += p * float64(values[(j*a.KVHeads+shared)*a.ValueDim+d])
				}
				dst[at*a.ValueDim+d] = sum
			}
		}
	}
}

// weights returns the weights that a query gives to the keys 0 … seen−1 of a key head.
func (a Attend) weights(q, keys []float32, kvHead, head, seen int) []float64 {
	scores := make([]float64, seen, seen+1)
	for j := range scores {
		for d, x := range q {
			scores[j] += float64(x) * float64(keys[(j*a.KVHeads+kvHead)*a.KeyDim+d]) * a.Scale
		}
		if a.Limit > 0 {
			scores[j] = a.Limit * math.Tanh(scores[j]/a.Limit)
		}
		if a.Window > 0 && j < seen-a.Window {
			scores[j] = math.Inf(-1)
		}
	}
	if a.Sinks != nil {
		scores = append(scores, float64(a.Sinks[head]))
	}
	Softmax(scores)
	return scores[:seen]
}

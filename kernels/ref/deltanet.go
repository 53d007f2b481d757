package ref

import "math"

// DeltaNet writes the output of a gated delta net for the first n tokens of a sequence to dst (n,
// heads·valueDim).
//
// x is (n, 2·keyHeads·keyDim + heads·valueDim): queries, keys and values of all heads. Each column
// of x passes a causal convolution with its own weights, conv (kernel, columns), and then SiLU. Head h
// reads the query and key of key head ⌊h·keyHeads/heads⌋ if grouped, else of h mod keyHeads. Both are
// normalised to length 1, and the query is divided by √keyDim. Head h has a state S, (keyDim,
// valueDim), which begins as 0. For each token, with its query q, key k and value v, the decay
// g = exp(rate·softplus(alpha+shift)) and the strength b = σ(beta):
//
//	S = g·S;  S = S + k ⊗ b·(v − Sᵀk);  dst = Sᵀq
//
// alpha and beta are (n, heads); rate and shift have one number for each head. Source: Yang et al.,
// Gated Delta Networks, 2024; the convolution and the norms are those of Qwen3-Next.
func DeltaNet(dst []float64, x, alpha, beta, conv, rate, shift []float32, n, keyHeads, heads, keyDim, valueDim, kernel int, grouped bool, eps float64) {
	width := 2*keyHeads*keyDim + heads*valueDim
	mixed := convolve(x, conv, nil, n, width, kernel)
	for i, v := range mixed {
		mixed[i] = v / (1 + math.Exp(-v))
	}
	unit := func(x []float64) []float64 {
		sum := eps
		for _, v := range x {
			sum += v * v
		}
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = v / math.Sqrt(sum)
		}
		return out
	}
	for h := range heads {
		state := make([]float64, keyDim*valueDim)
		for t := range n {
			row := mixed[t*width:][:width]
			keyHead := h % keyHeads
			if grouped {
				keyHead = h * keyHeads / heads
			}
			q, k := unit(row[keyHead*keyDim:][:keyDim]), unit(row[(keyHeads+keyHead)*keyDim:][:keyDim])
			v := row[2*keyHeads*keyDim+h*valueDim:][:valueDim]
			decay := math.Exp(float64(rate[h]) * math.Log1p(math.Exp(float64(alpha[t*heads+h])+float64(shift[h]))))
			strength := 1 / (1 + math.Exp(-float64(beta[t*heads+h])))
			for j := range valueDim {
				recalled, out := 0.0, 0.0
				for i := range keyDim {
					state[i*valueDim+j] *= decay
					recalled += state[i*valueDim+j] * k[i]
				}
				for i := range keyDim {
					state[i*valueDim+j] += k[i] * strength * (v[j] - recalled)
					out += state[i*valueDim+j] * q[i]
				}
				dst[(t*heads+h)*valueDim+j] = out / math.Sqrt(float64(keyDim))
			}
		}
	}
}

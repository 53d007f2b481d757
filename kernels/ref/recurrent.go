package ref

import "math"

// Mamba2 writes to dst (n, heads·valueDim) the output of a Mamba-2 layer for a sequence's first n tokens.
//
// x is (n, heads·valueDim + 2·groups·keyDim): x, B and C of the paper, which are the values of all
// heads, and keys and queries of all groups. Each column of x passes a causal convolution with its
// own weights, conv (kernel, columns), and bias, which may be nil, and then SiLU. Head h reads key
// and query of group ⌊h·groups/heads⌋. Head h has a state S, (keyDim, valueDim), at first 0. For
// each token, with its query q, key k and value v, and the step d = softplus(steps+shift):
//
//	S = exp(rate·d)·S + k ⊗ d·v;  dst = Sᵀq + skip·v
//
// steps is (n, heads); rate, shift and skip have one number for each head. Source: Dao and Gu,
// Transformers are SSMs, 2024.
func Mamba2(dst []float64, x, steps, conv, bias, rate, shift, skip []float32, n, groups, heads, keyDim, valueDim, kernel int) {
	values, keys := heads*valueDim, groups*keyDim
	width := values + 2*keys
	mixed := convolve(x, conv, bias, n, width, kernel)
	for i, v := range mixed {
		mixed[i] = v / (1 + math.Exp(-v))
	}
	for h := range heads {
		state := make([]float64, keyDim*valueDim)
		group := h * groups / heads
		for t := range n {
			row := mixed[t*width:][:width]
			v, k, q := row[h*valueDim:][:valueDim], row[values+group*keyDim:][:keyDim], row[values+keys+group*keyDim:][:keyDim]
			step := math.Log1p(math.Exp(float64(steps[t*heads+h]) + float64(shift[h])))
			decay := math.Exp(float64(rate[h]) * step)
			for j := range valueDim {
				out := float64(skip[h]) * v[j]
				for i := range keyDim {
					state[i*valueDim+j] = decay*state[i*valueDim+j] + k[i]*step*v[j]
					out += state[i*valueDim+j] * q[i]
				}
				dst[(t*heads+h)*valueDim+j] = out
			}
		}
	}
}

// ShortConvolution writes the output of a gated short convolution for the first n tokens of a sequence
// to dst (n, dim). x is (n, 3·dim): b, c and the input. The input times b passes a causal convolution,
// conv (kernel, dim), and is multiplied by c. Source: LFM2's code in the library transformers.
func ShortConvolution(dst []float64, x, conv []float32, n, dim, kernel int) {
	gated := make([]float32, n*dim)
	for t := range n {
		row := x[t*3*dim:][:3*dim]
		for c := range dim {
			gated[t*dim+c] = row[c] * row[2*dim+c]
		}
	}
	mixed := convolve(gated, conv, nil, n, dim, kernel)
	for t := range n {
		for c := range dim {
			dst[t*dim+c] = mixed[t*dim+c] * float64(x[t*3*dim+dim+c])
		}
	}
}

// convolve computes a causal convolution of each column of x (n, width), with the weights conv
// (kernel, width), the oldest token first, and bias, which may be nil.
func convolve(x, conv, bias []float32, n, width, kernel int) []float64 {
	mixed := make([]float64, n*width)
	for t := range n {
		for c := range width {
			sum := 0.0
			if bias != nil {
				sum = float64(bias[c])
			}
			for j := max(0, kernel-1-t); j < kernel; j++ {
				sum += float64(conv[j*width+c]) * float64(x[(t-kernel+1+j)*width+c])
			}
			mixed[t*width+c] = sum
		}
	}
	return mixed
}

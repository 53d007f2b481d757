package cpu

// deltaRecallGeneric is recalled[v] = Σ s[k][v]·decay·key[k], with k ascending.
func deltaRecallGeneric(recalled, s, key []float32, decay float32) {
	n := len(recalled)
	clear(recalled)
	for i, k := range key {
		for v, x := range s[i*n:][:n] {
			recalled[v] += float32(float32(x*decay) * k)
		}
	}
}

// deltaStepGeneric writes the new state s·decay + key ⊗ change to dst, and the sum of the new state's
// rows, weighted by query, to out. dst may be s. If dst is nil, only out is written; if out is nil, only
// dst.
func deltaStepGeneric(dst, out, s, key, change, query []float32, decay float32) {
	n := len(change)
	clear(out)
	for i, k := range key {
		for v, x := range s[i*n:][:n] {
			x = float32(x*decay) + float32(k*change[v])
			if dst != nil {
				dst[i*n+v] = x
			}
			if out != nil {
				out[v] += float32(x * query[i])
			}
		}
	}
}

// deltaStepRecallGeneric is deltaStepGeneric, with a dst, and then deltaRecallGeneric of the new state.
func deltaStepRecallGeneric(dst, out, recalled, s, key, change, query, nextKey []float32, decay, nextDecay float32) {
	deltaStepGeneric(dst, out, s, key, change, query, decay)
	deltaRecallGeneric(recalled, dst, nextKey, nextDecay)
}

// MostKernel bounds the tokens that a convolution sees.
const MostKernel = 16

// convolveGeneric adds to each dst[v] the products of column column+v of the inputs and of w, whose rows
// have width numbers. The oldest token comes first.
func convolveGeneric(dst []float32, inputs [][]float32, w []float32, column, width int) {
	for i, x := range inputs {
		x, weights := x[column:][:len(dst)], w[i*width+column:][:len(dst)]
		for v := range dst {
			dst[v] += float32(x[v] * weights[v])
		}
	}
}

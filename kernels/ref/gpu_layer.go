package ref

import "math"

// The operations of a transformer's layer as the GPU computes them, in float32 to the bit. Each says how it differs from the float64
// definition of the same operation: by the order of its sums and by where it rounds.

// NormThreads is the number of threads that normalise a group of n numbers together; it is part of RMSNormGroup.
func NormThreads(n int) int {
	if n <= 256 {
		return Warp // heads of q and k
	}
	return 512
}

// RMSNormGroup is RMSNorm for one group of len(w) numbers: number k belongs to thread k mod NormThreads, a thread adds its squares in
// ascending k, fused, and the threads are added as BlockSum does.
func RMSNormGroup(dst, x, w []float32, eps float32) {
	squares := make([]float32, NormThreads(len(w)))
	for k, v := range x {
		t := k % len(squares)
		squares[t] = FMA(v, v, squares[t])
	}
	mean := BlockSum(squares) / float32(len(w))
	factor := 1 / float32(math.Sqrt(float64(mean+eps)))
	for k, v := range x {
		dst[k] = float32(v*factor) * w[k]
	}
}

// RotateHead rotates the first 2·len(cos) numbers of a head by angles given as cosines and sines, products and sums rounded separately.
func RotateHead(head, cos, sin []float32, neox bool) {
	for i := range cos {
		a, b := 2*i, 2*i+1
		if neox {
			a, b = i, i+len(cos)
		}
		head[a], head[b] = float32(head[a]*cos[i])-float32(head[b]*sin[i]), float32(head[a]*sin[i])+float32(head[b]*cos[i])
	}
}

// GuideRows returns negative + scale·(prompt − negative), the product fused with the sum: classifier-free guidance. A token masked by −Inf
// stays masked, and one that only the negative prompt masks keeps its score. Source: Sanchez et al., Stay on topic with
// classifier-free guidance, 2023.
func GuideRows(prompt, negative, scale float32) float32 {
	if math.IsInf(float64(prompt), -1) || math.IsInf(float64(negative), -1) {
		return prompt
	}
	return FMA(scale, prompt-negative, negative)
}

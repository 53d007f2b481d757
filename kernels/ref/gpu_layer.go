package ref

import "math"

// The operations of a transformer layer as the GPU computes them, in float32 and to the bit. They
// differ from the float64 definitions in the order of sums and in where they round; each comment
// says how.

// NormThreads returns the number of threads that normalise a group of n numbers together, which decides
// the order of the sums, and so the bits. A group of up to 256 numbers, such as a head of q or k, has one
// warp. A wider group has a thread for every 4 numbers, in whole warps, but at most 1024 threads.
func NormThreads(n int) int {
	if n <= 256 {
		return Warp
	}
	return min(1024, (n+4*Warp-1)/(4*Warp)*Warp)
}

// RMSNormGroup is RMSNorm for one group of len(w) numbers. Number k belongs to thread k mod NormThreads.
// A thread adds the squares of its numbers in ascending k, fused; BlockSum adds the sums of the threads.
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

// LayerNormGroup is LayerNorm for one group of len(w) numbers. The numbers, and then their squared
// deviations from the mean, are added in the order of RMSNormGroup.
func LayerNormGroup(dst, x, w []float32, eps float32) {
	threads := NormThreads(len(w))
	sums, squares := make([]float32, threads), make([]float32, threads)
	for k, v := range x {
		sums[k%threads] += v
	}
	mean := BlockSum(sums) / float32(len(w))
	for k, v := range x {
		squares[k%threads] = FMA(v-mean, v-mean, squares[k%threads])
	}
	factor := 1 / float32(math.Sqrt(float64(BlockSum(squares)/float32(len(w))+eps)))
	for k, v := range x {
		dst[k] = float32((v-mean)*factor) * w[k]
	}
}

// RotateHead rotates the first 2·len(cos) numbers of a head by angles given as cosines and sines,
// in the pairs of RoPE. Products and sums are rounded separately.
func RotateHead(head, cos, sin []float32, neox bool) {
	for i := range cos {
		a, b := 2*i, 2*i+1
		if neox {
			a, b = i, i+len(cos)
		}
		head[a], head[b] = float32(head[a]*cos[i])-float32(head[b]*sin[i]), float32(head[a]*sin[i])+float32(head[b]*cos[i])
	}
}

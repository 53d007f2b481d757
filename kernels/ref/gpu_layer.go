package ref

import "math"

// The operations of a transformer layer as the GPU computes them, in float32 and to the bit. They
// differ from the float64 definitions in the order of sums and in where they round; each comment
// says how.

// NormThreads returns the number of threads that normalise a group of n numbers together. A group of up to
// 256 numbers, such as a head of q or k, has one warp. A wider group has a thread for every 4 numbers, in whole
// warps, but at most 1024 threads.
func NormThreads(n int) int {
	if n <= 256 {
		return Warp
	}
	return min(1024, (n+4*Warp-1)/(4*Warp)*Warp)
}

// NormTile is how many neighbouring numbers of a row have their squares added first: see RMSNormGroup.
const NormTile = 16

// RMSNormGroup is RMSNorm for one group of len(w) numbers. In a group that has one warp (NormThreads), lane l
// adds the squares of the numbers l, l+32, …, fused; BlockSum adds the lanes. In a wider group, TileSquares adds
// the squares of each NormTile numbers. Lane l adds the sums of the tiles l, l+32, …, and BlockSum adds the lanes.
func RMSNormGroup(dst, x, w []float32, eps float32) {
	lanes := make([]float32, Warp)
	if NormThreads(len(w)) == Warp {
		for k, v := range x {
			lanes[k%Warp] = FMA(v, v, lanes[k%Warp])
		}
	} else {
		for i, sum := range TileSquares(x) {
			lanes[i%Warp] += sum
		}
	}
	mean := BlockSum(lanes) / float32(len(w))
	factor := 1 / float32(math.Sqrt(float64(mean+eps)))
	for k, v := range x {
		dst[k] = float32(v*factor) * w[k]
	}
}

// TileSquares returns the sum of squares of each NormTile numbers of a row; the last tile may have fewer. The
// squares are rounded, and added by butterflies: numbers 8 apart first, then 4, 2 and 1 apart.
func TileSquares(row []float32) (sums []float32) {
	for from := 0; from < len(row); from += NormTile {
		var squares [NormTile]float32
		for i, v := range row[from:min(from+NormTile, len(row))] {
			squares[i] = v * v
		}
		for half := NormTile / 2; half > 0; half /= 2 {
			for i := range half {
				squares[i] += squares[i+half]
			}
		}
		sums = append(sums, squares[0])
	}
	return sums
}

// LayerNormGroup is LayerNorm for one group of len(w) numbers. In both sums, number k belongs to thread k mod
// NormThreads; a thread adds in ascending k, and BlockSum adds the threads.
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

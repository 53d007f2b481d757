package ref

// Warp is the number of lanes in a warp.
const Warp = 32

// WarpSum adds the lanes of a warp in butterfly order: lane i and lane i xor 16, then xor 8, 4, 2
// and 1.
func WarpSum(lanes [Warp]float32) float32 {
	for half := Warp / 2; half > 0; half /= 2 {
		for i := range half {
			lanes[i] += lanes[i+half]
		}
	}
	return lanes[0]
}

// BlockSum adds the values of a block of threads: those of each warp in butterfly order, then the sums of
// the warps in ascending order. The number of values is a multiple of 32; without values the sum is 0.
func BlockSum(values []float32) float32 {
	sum := float32(0)
	for w := 0; w < len(values); w += Warp {
		if s := WarpSum([Warp]float32(values[w:])); w == 0 {
			sum = s
		} else {
			sum += s
		}
	}
	return sum
}

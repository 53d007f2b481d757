package cpu

// squaresGeneric is Σ x², in the order of ref.Dot. Unlike ref.Dot it rounds each square before it adds
// the square, because portable code has no fast fused operation. It reads the row twice and sums eight
// lanes each time, because most processors have too few registers for sixteen sums.
func squaresGeneric(x []float32) float32 {
	whole := x[:len(x)/lanes*lanes]
	var sums [lanes]float32
	*(*[lanes / 2]float32)(sums[:]) = eightSquares(whole, 0)
	*(*[lanes / 2]float32)(sums[lanes/2:]) = eightSquares(whole, lanes/2)
	for i, v := range x[len(whole):] {
		sums[i] += float32(v * v)
	}
	return fold(&sums)
}

// eightSquares sums the lanes first … first+7 of a row whose length is a multiple of 16.
func eightSquares(x []float32, first int) [lanes / 2]float32 {
	var a, b, c, d, e, f, g, h float32
	for len(x) >= lanes {
		v := (*[lanes / 2]float32)(x[first:])
		a += float32(v[0] * v[0])
		b += float32(v[1] * v[1])
		c += float32(v[2] * v[2])
		d += float32(v[3] * v[3])
		e += float32(v[4] * v[4])
		f += float32(v[5] * v[5])
		g += float32(v[6] * v[6])
		h += float32(v[7] * v[7])
		x = x[lanes:]
	}
	return [lanes / 2]float32{a, b, c, d, e, f, g, h}
}

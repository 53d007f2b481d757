package cpu

// portable computes columns first … last−1 of Dst. A row of weights is widened piece by piece.
func (t *MatMulFloat) portable(first, last int) {
	const piece = 512
	var wide [piece]float32
	var sums [batchRows][lanes]float32
	rowBytes := t.Cols * t.Type.bytes
	for r := first; r < last; r++ {
		w := t.W[r*rowBytes : (r+1)*rowBytes]
		for start := 0; start < t.M; start += batchRows {
			batch := sums[:min(batchRows, t.M-start)]
			clear(batch)
			for k := 0; k < t.Cols; k += piece {
				n := min(piece, t.Cols-k)
				t.Type.Dequantize(wide[:n], w[k*t.Type.bytes:])
				for i := range batch {
					addProducts(&batch[i], wide[:n], t.X[(start+i)*t.Cols+k:][:n])
				}
			}
			for i := range batch {
				t.Dst[(start+i)*t.Rows+r] = foldLanes(&batch[i])
			}
		}
	}
}

// addProducts adds w[k]·x[k] to lane k mod 16. Sixteen sums do not fit the registers of most processors,
// so the numbers are passed over twice, eight lanes each time.
func addProducts(sums *[lanes]float32, w, x []float32) {
	whole := len(w) / lanes * lanes
	addEightLanes((*[lanes / 2]float32)(sums[:]), w[:whole], x[:whole], 0)
	addEightLanes((*[lanes / 2]float32)(sums[lanes/2:]), w[:whole], x[:whole], lanes/2)
	for i, v := range w[whole:] {
		sums[i] += float32(v * x[whole+i])
	}
}

// addEightLanes adds to lanes first … first+7 the products of rows whose length is a multiple of 16.
func addEightLanes(sums *[lanes / 2]float32, w, x []float32, first int) {
	a, b, c, d, e, f, g, h := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	for len(w) >= lanes && len(x) >= lanes {
		u, v := (*[8]float32)(w[first:]), (*[8]float32)(x[first:])
		a += float32(u[0] * v[0])
		b += float32(u[1] * v[1])
		c += float32(u[2] * v[2])
		d += float32(u[3] * v[3])
		e += float32(u[4] * v[4])
		f += float32(u[5] * v[5])
		g += float32(u[6] * v[6])
		h += float32(u[7] * v[7])
		w, x = w[lanes:], x[lanes:]
	}
	*sums = [lanes / 2]float32{a, b, c, d, e, f, g, h}
}

// foldLanes adds the lanes by halves.
func foldLanes(sums *[lanes]float32) float32 {
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	return sums[0]
}

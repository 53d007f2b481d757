package cpu

// portable computes the columns first … last−1 of Dst. It converts each row of weights to float32
// piece by piece.
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
				t.Dst[(start+i)*t.Rows+r] = fold(&batch[i])
			}
		}
	}
}

// addProducts adds w[k]·x[k] to lane k mod 16, and rounds once, after the addition. It reads the
// numbers twice and sums eight lanes each time, because most processors have too few registers for
// sixteen sums.
func addProducts(sums *[lanes]float32, w, x []float32) {
	whole := len(w) / lanes * lanes
	addEightLanes((*[lanes / 2]float32)(sums[:]), w[:whole], x[:whole], 0)
	addEightLanes((*[lanes / 2]float32)(sums[lanes/2:]), w[:whole], x[:whole], lanes/2)
	for i, v := range w[whole:] {
		sum := fusable(v, x[whole+i], sums[i])
		if mayRoundTwice(sum) {
			sums[i] = fma(v, x[whole+i], sums[i])
		} else {
			sums[i] = float32(sum)
		}
	}
}

// addEightLanes adds w[k]·x[k] to the lanes first … first+7; the length of w is a multiple of 16. A
// sum in float64 nearly always rounds to the fused result. If one of the eight might not, all eight
// are computed again by fma.
func addEightLanes(sums *[lanes / 2]float32, w, x []float32, first int) {
	a, b, c, d, e, f, g, h := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	for len(w) >= lanes && len(x) >= lanes {
		u, v := (*[8]float32)(w[first:]), (*[8]float32)(x[first:])
		a2, b2, c2, d2 := fusable(u[0], v[0], a), fusable(u[1], v[1], b), fusable(u[2], v[2],
			c), fusable(u[3], v[3], d)
		e2, f2, g2, h2 := fusable(u[4], v[4], e), fusable(u[5], v[5], f), fusable(u[6], v[6],
			g), fusable(u[7], v[7], h)
		if mayRoundTwice(a2) || mayRoundTwice(b2) || mayRoundTwice(c2) || mayRoundTwice(d2) ||
			mayRoundTwice(e2) || mayRoundTwice(f2) || mayRoundTwice(g2) || mayRoundTwice(h2) {
			a, b, c, d = fma(u[0], v[0], a), fma(u[1], v[1], b), fma(u[2], v[2], c), fma(u[3], v[3], d)
			e, f, g, h = fma(u[4], v[4], e), fma(u[5], v[5], f), fma(u[6], v[6], g), fma(u[7], v[7], h)
		} else {
			a, b, c, d = float32(a2), float32(b2), float32(c2), float32(d2)
			e, f, g, h = float32(e2), float32(f2), float32(g2), float32(h2)
		}
		w, x = w[lanes:], x[lanes:]
	}
	*sums = [lanes / 2]float32{a, b, c, d, e, f, g, h}
}

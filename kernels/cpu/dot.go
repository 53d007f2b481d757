package cpu

// lanes is the number of partial sums of dot; see ref.Dot.
const lanes = 16

// dot is ref.Dot to the bit. Sixteen scalar sums do not fit the registers of most processors,
// so the row is passed over twice, eight lanes each time.
func dot(w, x []float32) float32 {
	whole := len(w) / lanes * lanes
	low := eightLanes(w[:whole], x[:whole], 0)
	high := eightLanes(w[:whole], x[:whole], lanes/2)
	for i, k := 0, whole; k < len(w); i, k = i+1, k+1 {
		if i < lanes/2 {
			low[i] += float32(w[k] * x[k])
		} else {
			high[i-lanes/2] += float32(w[k] * x[k])
		}
	}
	for i := range low {
		low[i] += high[i]
	}
	return ((low[0] + low[4]) + (low[2] + low[6])) + ((low[1] + low[5]) + (low[3] + low[7]))
}

// eightLanes sums lanes first … first+7 of rows whose length is a multiple of 16.
func eightLanes(w, x []float32, first int) (sums [8]float32) {
	var a, b, c, d, e, f, g, h float32
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
	return [8]float32{a, b, c, d, e, f, g, h}
}

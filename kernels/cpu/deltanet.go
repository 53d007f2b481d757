package cpu

import "math"

// prepareDeltaNet gives query and key the length 1, divides the query by √KeyDim, and computes decay
// and strength.
func (t *Recurrence) prepareDeltaNet(row *recurrentRow, head int, alpha, beta float32) {
	times(row.q, float32(1/math.Sqrt((float64(squares(row.q))+float64(t.Eps))*float64(t.State.shape.KeyDim))))
	times(row.k, float32(1/math.Sqrt(float64(squares(row.k))+float64(t.Eps))))
	row.decay = exp(t.Rate[head] * softplus(alpha+t.Shift[head]))
	row.strength = 1 / (1 + exp(-beta))
}

// softplus is ln(1+eˣ). With u = e^−|x| it is max(x, 0) + ln(1+u), and ln(1+u) = 2·artanh(u/(2+u)).
func softplus(x float32) float32 {
	u := float64(exp(-max(x, -x)))
	z := u / (2 + u) // at most 1/3, so the series below ends at a relative error of 2⁻³⁰
	square := float64(z * z)
	series := 1.0 / 17
	for n := 15; n > 0; n -= 2 {
		series = float64(series*square) + 1/float64(n)
	}
	return float32(float64(max(x, 0)) + float64(2*z)*series)
}

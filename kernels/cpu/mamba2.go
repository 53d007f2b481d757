package cpu

// prepareMamba2 computes how long the step of a token is: it says how much the state shrinks, and
// how much of the value it takes in.
func (t *Recurrence) prepareMamba2(row *recurrentRow, head int, alpha float32) {
	row.strength = softplus(alpha + t.Shift[head])
	row.decay = exp(t.Rate[head] * row.strength)
}

// RMSNormGroups writes x·w/√(mean(x²)+eps), with the mean of each group of so many numbers; dst may
// be x. Other than in RMSNorm each number has a weight of its own.
func RMSNormGroups(dst, x, w []float32, group int, eps float32) {
	for at := 0; at < len(x); at += group {
		RMSNorm(dst[at:][:group], x[at:][:group], w[at:][:group], eps)
	}
}

package cpu

// prepareMamba2 computes the size of a token's step. The step decides how much the state shrinks,
// and how much of the value the state takes in.
func (t *Recurrence) prepareMamba2(row *recurrentRow, head int, alpha float32) {
	row.strength = softplus(alpha + t.Shift[head])
	row.decay = exp(t.Rate[head] * row.strength)
}

// RMSNormGroups writes x·w/√(mean(x²)+eps) for each group of numbers, with the mean over the group;
// dst may be x. Unlike in RMSNorm, each number of x has a weight of its own.
func RMSNormGroups(dst, x, w []float32, group int, eps float32) {
	for at := 0; at < len(x); at += group {
		RMSNorm(dst[at:][:group], x[at:][:group], w[at:][:group], eps)
	}
}

package cpu

import "math"

// capAndMask changes the scores of the queries first … first+n−1 in the split that begins at key start.
// It caps the scores of keys that a query sees, and sets the scores of keys before its window to −∞.
func (t *Attention) capAndMask(w *together, scores []float32, seen *[queriesAtOnce]int, first, n, start int) {
	for j := range n {
		row := scores[j*KeysPerSplit:][:seen[j]]
		masked := max(0, w.from[first+j]-start)
		if t.SoftCap > 0 {
			SoftCap(row[masked:], t.SoftCap)
		}
		for i := range row[:masked] {
			row[i] = float32(math.Inf(-1))
		}
	}
}

// SoftCap replaces each x by limit·tanh(x/limit), which is close to x near 0 and stays between
// −limit and limit. Source: Gemma 2, 2024, §2.
func SoftCap(x []float32, limit float32) {
	for i, v := range x {
		x[i] = limit * tanh(v/limit)
	}
}

// tanh is 1 − 2/(e²ˣ+1), with an absolute error below 2⁻²².
func tanh(x float32) float32 { return 1 - 2/(exp(2*x)+1) }

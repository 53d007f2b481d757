package cpu

import "math"

// Argmax returns the index of the largest score, the lowest among equals. ok is false when a score is NaN or +Inf,
// or when none is finite: then there is no best.
func Argmax(scores []float32) (best int, ok bool) {
	largest := float32(math.Inf(-1))
	best = -1
	for i, s := range scores {
		if s > largest {
			largest, best = s, i
		} else if s != s {
			return -1, false
		}
	}
	if best < 0 || math.IsInf(float64(largest), 1) {
		return -1, false
	}
	return best, true
}

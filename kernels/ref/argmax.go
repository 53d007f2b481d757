package ref

import "math"

// Argmax returns the index of the largest score; among equal scores, the lowest index. ok is false
// if a score is NaN or +Inf, or if no score is finite.
func Argmax(scores []float32) (best int, ok bool) {
	best = -1
	for i, s := range scores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 1) {
			return -1, false
		}
		if !math.IsInf(float64(s), -1) && (best < 0 || s > scores[best]) {
			best = i
		}
	}
	return best, best >= 0
}

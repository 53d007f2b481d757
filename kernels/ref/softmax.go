package ref

import (
	"math"
	"slices"
)

// Softmax replaces scores by exp(score)/Σ exp(scores). It subtracts the largest score first, so
// that nothing overflows.
func Softmax(scores []float64) {
	largest := slices.Max(scores)
	sum := 0.0
	for i, s := range scores {
		scores[i] = math.Exp(s - largest)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

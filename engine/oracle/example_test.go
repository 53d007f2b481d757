package oracle_test

import (
	"fmt"
	"math"

	"specula/engine/oracle"
	"specula/engine/sample"
)

// Top-k keeps the two best of four scores; what is left is renormalised.
func ExampleDistribution() {
	scores := []float32{float32(math.Log(4)), float32(math.Log(1)), float32(math.Log(12)), float32(math.Log(3))}
	for _, p := range oracle.Distribution(scores, sample.Params{Temperature: 1, TopK: 2, TopP: 1}) {
		fmt.Printf("%.2f ", p)
	}
	// Output: 0.25 0.00 0.75 0.00
}

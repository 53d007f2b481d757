package sample_test

import (
	"fmt"

	"specula/engine/sample"
)

// A row of scores becomes a distribution, and a uniform number picks a token from it.
func Example() {
	scores := []float32{2, 1, 0, -1}
	p, err := sample.FromLogits(make([]float64, 4), scores, sample.Params{Temperature: 1, TopK: 3, TopP: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	u := sample.NewPhilox(42, 1).Uniform(sample.BonusDraw, 0, 0)
	fmt.Printf("%.3f\nu = %.3f draws token %d\n", p.P, u, sample.Draw(p, u))
	// Output:
	// [0.665 0.245 0.090 0.000]
	// u = 0.564 draws token 0
}

// A rejected draft token is replaced by one of those that the target wants more than the draft did.
func ExampleResidual() {
	p := sample.Dist{P: []float64{0.5, 0.3, 0.2}}
	q := sample.Dist{P: []float64{0.2, 0.2, 0.6}}
	fmt.Printf("%.2f\n", sample.Residual(make([]float64, 3), p, q).P)
	// Output:
	// [0.75 0.25 0.00]
}

package stat_test

import (
	"fmt"
	"math"

	"specula/engine/stat"
)

// A die is thrown 6000 times.
func Example() {
	var c stat.Cells
	c.Add([]int{1003, 969, 1021, 988, 1032, 987}, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6})
	limit := stat.Limit(0.001)
	fmt.Printf("χ² %.2f, loaded: %v\n", c.Chi2, c.Z() > limit)
	fmt.Printf("a fault of %.1f %% would have been noticed with 99 %%\n", 100*math.Sqrt(stat.Noticed(c.Freedom, limit, 0.99)/(4*6000)))
	// Output:
	// χ² 2.75, loaded: false
	// a fault of 4.1 % would have been noticed with 99 %
}

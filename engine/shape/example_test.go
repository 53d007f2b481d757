package shape_test

import (
	"fmt"

	"specula/engine/sample"
	"specula/engine/shape"
)

// A draft token is pushed to be judged, and popped when it is rejected.
func Example() {
	shapers := sample.Shapers{shape.NewPenalties(1, 0.5, 0, 64), shape.NewBan([]int32{3})}
	if err := shapers.Reset([]int32{0, 0}, nil); err != nil {
		fmt.Println(err)
		return
	}
	show := func() {
		row := []float32{2, 2, 2, 2}
		if err := shapers.Shape(row); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row)
	}
	show()
	shapers.Push(1)
	show()
	shapers.Pop(1)
	show()
	// Output:
	// [1 2 2 -Inf]
	// [1 1.5 2 -Inf]
	// [1 2 2 -Inf]
}

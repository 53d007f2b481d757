package statetest_test

import (
	"fmt"

	"specula/ui/state/statetest"
)

func ExampleMidway() {
	events := statetest.Midway(3)
	fmt.Println(events[0].Kind(), "…", events[len(events)-1].Kind())
	// Output: ready … drafted
}

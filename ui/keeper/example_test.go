package keeper_test

import (
	"fmt"

	"specula/ui/keeper"
)

// Without a keeper, as on Windows, the link is nil and its methods do nothing.
func ExampleLink() {
	var link *keeper.Link
	link.Entered() // before the screen is drawn
	fmt.Println("the screen is shown")
	link.Left() // after the terminal was restored
	// Output: the screen is shown
}

package layout_test

import (
	"fmt"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

// A tile of a panel has 32 columns of 32 rows, however many bits a weight takes.
func ExamplePanel() {
	for _, typ := range []uint32{format.Q8_0, format.Q4_K, format.Q6_K} {
		p := layout.Panel{Format: format.Find(typ)}
		fmt.Println(p.Name, p.TileBytes(), "bytes a tile, of which", p.HighBytes(), "for upper bits")
	}
	// Output:
	// Q8_0 1088 bytes a tile, of which 0 for upper bits
	// Q4_K 576 bytes a tile, of which 0 for upper bits
	// Q6_K 832 bytes a tile, of which 256 for upper bits
}

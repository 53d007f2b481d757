package weights_test

import (
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

func ExampleParse() {
	data := new(gguf.Builder).
		Set("general.architecture", "llama").
		Set("llama.block_count", uint32(22)).
		Matrix("output.weight", compute.F16, 2, 3, []float32{1, 2, 3, 4, 5, 6}).
		Bytes()
	f, err := weights.Parse("example", data)
	if err != nil {
		fmt.Println(err)
		return
	}
	blocks, found, err := f.Uint("llama.block_count")
	fmt.Println(f.Format(), f.Architecture(), blocks, found, err)
	w, _, err := f.Tensor("output.weight")
	fmt.Println(w.Name, w.Rows, w.Cols, len(w.Data), err)

	_, err = weights.Parse("example", data[:170])
	fmt.Println(errors.Is(err, weights.ErrMalformed))
	fmt.Println(err)
	// Output:
	// GGUF v3 llama 22 true <nil>
	// output.weight 2 3 12 <nil>
	// true
	// reading "example": tensors[0] "output.weight" data at byte 160: got 12 bytes, which end at byte 172, allowed an end at byte 170, the end of the file, or before: malformed model file; download or convert it again
}

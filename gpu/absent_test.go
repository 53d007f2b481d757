//go:build !(cuda && linux && cgo)

package gpu_test

import (
	"context"
	"fmt"

	"specula/gpu"
)

func ExampleOpen() {
	_, err := gpu.Open(context.Background(), "cuda")
	fmt.Println(err)
	// Output: opening "cuda": no CUDA device: this build of specula has no CUDA in it (make build, on Linux with a C compiler, puts it in)
}

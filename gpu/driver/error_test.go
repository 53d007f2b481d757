package driver

import (
	"errors"
	"fmt"
	"testing"

	"specula/engine/compute"
)

func ExampleError() {
	fmt.Println(&Error{Doing: "allocating 4096 bytes on the device", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory"})
	fmt.Println(&Error{Doing: "waiting for the device", Code: 700, Name: "CUDA_ERROR_ILLEGAL_ADDRESS"})
	// Output:
	// allocating 4096 bytes on the device: CUDA_ERROR_OUT_OF_MEMORY (code 2): out of memory; not enough memory
	// waiting for the device: CUDA_ERROR_ILLEGAL_ADDRESS (code 700); the GPU cannot be used again before specula is started anew
}

func TestCodesWrapTheirErrors(t *testing.T) {
	for code, want := range map[int]error{1: nil, 2: compute.ErrOutOfMemory, 214: compute.ErrDeviceLost,
		500: nil, 700: compute.ErrDeviceLost,
		701: nil, 719: compute.ErrDeviceLost, 900: nil, 999: compute.ErrDeviceLost} {
		if got := errors.Unwrap(&Error{Code: code}); got != want {
			t.Errorf("code %d wraps %v, want %v", code, got, want)
		}
	}
}

func TestTrafficIsAddedAndSubtracted(t *testing.T) {
	a, b := Traffic{1, 2, 3, 4, 5}, Traffic{10, 20, 30, 40, 50}
	if got := b.plus(a).Minus(b); got != a {
		t.Errorf("got %+v, want %+v", got, a)
	}
}

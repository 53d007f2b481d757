// Package gpu will be the CUDA backend of engine/compute, and the only package that knows the driver.
//
// What will live here: one goroutine locked to its thread that owns the device, because a CUDA context belongs to a thread;
// streams, so that a whole round, draft steps, verification and residual draws, is queued before the host looks; a pool of
// device memory reserved at load, so that nothing can run out in mid-reply; the modules made from the embedded PTX
// of kernels/cuda; and captured graphs, which replay a round's launches as one. It will keep the law of engine/compute, that
// verifying gives the bits of decoding, by using one tensor-core tile for every number of rows and one split of the summed axis.
//
// The driver is found when the program runs, never when it is built: one program starts with and without a GPU, and says
// which it has and why.
package gpu

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
)

// ErrNoDevice means that there is no device to compute on: none in the machine, no driver, or no backend in this build.
var ErrNoDevice = errors.New("no CUDA device")

// Open opens the device called name, "cuda" or "cuda:N". An error wraps ErrNoDevice and says in words what is missing.
func Open(ctx context.Context, name string) (compute.Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("opening %.32q: %w: this build of specula has no CUDA backend; use the device \"cpu\" or \"auto\"", name, ErrNoDevice)
}

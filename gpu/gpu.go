// Package gpu is the CUDA backend of engine/compute, and with gpu/driver the only package that knows the driver.
//
// What lives here: one goroutine locked to its thread that owns the device, because a CUDA context belongs to a thread;
// streams, so that a whole round, draft steps, verification and residual draws, is queued before the host looks (tokens.go, draws.go); a pool of
// device memory reserved at load, so that nothing can run out in mid-reply; the modules made from the embedded PTX
// of kernels/cuda; and captured graphs, which replay a round's launches as one. It keeps the law of engine/compute, that
// verifying gives the bits of decoding, by using one tensor-core tile for every number of rows and one split of the summed axis.
//
// The driver is found when the program runs, never when it is built: one program starts with and without a GPU, and says
// which it has and why.
package gpu

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"specula/engine/compute"
	"specula/kernels/cuda"
)

// ErrNoDevice means that there is no device to compute on: none in the machine, no driver, or no CUDA in this build.
var ErrNoDevice = errors.New("no CUDA device")

// Open opens the device called name, "cuda" or "cuda:N". An error wraps ErrNoDevice and says in words what is missing.
func Open(ctx context.Context, name string) (compute.Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ordinal, err := ordinalOf(name)
	if err != nil {
		return nil, err
	}
	texts, err := kernelTexts()
	if err != nil {
		return nil, err
	}
	d, err := connect(ordinal)
	if err != nil {
		return nil, fmt.Errorf("opening %.32q: %w: %w", name, ErrNoDevice, err)
	}
	b, err := newBackend(d, texts)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func ordinalOf(name string) (int, error) {
	kind, number, numbered := strings.Cut(name, ":")
	if kind == "cuda" && !numbered {
		return 0, nil
	}
	n, err := strconv.Atoi(number)
	if kind != "cuda" || err != nil || n < 0 {
		return 0, fmt.Errorf("opening %.32q: %w of that name; names are \"cuda\" and \"cuda:N\", N from 0", name, ErrNoDevice)
	}
	return n, nil
}

// kernelTexts are the PTX texts of all modules.
func kernelTexts() (map[string]string, error) {
	texts := map[string]string{}
	for _, name := range cuda.Modules() {
		text, err := cuda.PTX(name)
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	return texts, nil
}

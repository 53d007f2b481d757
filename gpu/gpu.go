// Package gpu is the CUDA backend of engine/compute. Only this package and gpu/driver know the CUDA driver.
//
// Read Backend first: it implements compute.Backend. Its methods do not compute. They append
// operations to a tape (tape.go): typed values that say what is to be computed on which memory
// (operation*.go). flush joins neighbours that one kernel can do together (join.go, operand.go,
// epilogue.go), lets attention fetch weights (fetchahead.go), and turns each operation into a kernel
// launch. Then it gives the whole tape to the device's thread (queue.go): one goroutine locked to an OS
// thread, because a CUDA context belongs to a thread.
// When the same tape comes a second time, it is captured as a CUDA graph, which replays all
// launches as one (graphs.go). The host waits where it reads results, as in logits.go, tokens.go
// and draws.go. So a whole round (draft steps, verification, residual draws) is queued before the
// host waits. Most device memory is reserved when a model is loaded (memory.go, matrix.go,
// cache.go), some when a round first needs it (draws.go, edits.go, logits.go). The kernels come from
// kernels/cuda (kernels.go): as machine code if the program has it for the card, otherwise as PTX, which the
// driver compiles.
//
// Invariant, the law of engine/compute: the bits of a row do not depend on how many rows are
// computed with it, so verification gives the bits of decoding. For every number of rows, matrix
// products use the same tensor-core tile and divide the summed axis alike. Attention splits keys at
// fixed positions.
//
// The driver library is looked up when the program runs, never when it is built. One program
// therefore starts with and without a GPU, and says which it has and why.
package gpu

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"specula/engine/compute"
	"specula/kernels/cuda"
)

// ErrNoDevice means that there is no device to compute on. The machine has no GPU or no driver, this
// build has no CUDA, or the card or its driver cannot run the embedded kernels.
var ErrNoDevice = errors.New("no CUDA device")

// Open opens the device called name: "cuda" or "cuda:N", N from 0. It loads all kernels but those of
// weight formats, so that a card that cannot run them is found here and not in the middle of a reply.
//
// The error wraps ErrNoDevice and says what is missing if there is no device of that name, or if it cannot
// be opened or cannot run the kernels. Other errors do not wrap ErrNoDevice, such as the error of ctx, or a
// lack of memory on an open device.
func Open(ctx context.Context, name string) (compute.Backend, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ordinal, err := ordinalOf(name)
	if err != nil {
		return nil, err
	}
	d, err := connect(ordinal)
	if err != nil {
		return nil, fmt.Errorf("opening %.32q: %w: %w", name, ErrNoDevice, err)
	}
	if err := checkCard(d.Info()); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %.32q: %w", name, err), d.Close())
	}
	b, err := newBackend(d)
	if err != nil {
		return nil, err
	}
	if err := b.loadModules(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %.32q: %w", name, err), b.Close())
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

// kernelTexts returns the PTX of all modules, by module name. The texts take some megabytes, so all
// backends share them.
var kernelTexts = sync.OnceValues(func() (map[string]string, error) {
	texts := map[string]string{}
	for _, name := range cuda.Modules() {
		text, err := cuda.PTX(name)
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	return texts, nil
})

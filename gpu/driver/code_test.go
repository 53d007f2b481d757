//go:build cuda && linux && cgo

package driver

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"specula/kernels/cuda"
)

// codeFor returns the machine code for a target. It skips the test in a build by gpu/check/pack that leaves this
// machine code out.
func codeFor(t *testing.T, target int) *cuda.Code {
	code := cuda.CodeFor(target)
	if _, err := code.Module("norm"); errors.Is(err, cuda.ErrNotInBuild) {
		t.Skip("gpu/check/pack leaves machine code out: ", err)
	}
	return code
}

// The emulated driver reads from machine code what it reads from the PTX: the kernels, the size of their
// parameters (or Kernel refuses them), the largest block, and the shared memory that their arrays leave. The
// machine code has gaps between arrays, which align them.
func TestMachineCodeHasTheKernelsOfThePTX(t *testing.T) {
	const mostGapBytes = 15
	for _, target := range cuda.Targets() {
		t.Run(fmt.Sprint(target), func(t *testing.T) {
			d, code := openEmulated(t, fmt.Sprintf("EMULATOR_CAPABILITY=%d", target)), codeFor(t, target)
			on(t, d, func() {
				for _, module := range cuda.Modules() {
					ptx := get(cuda.PTX(module))
					compiled, loaded := get(d.Load(module, ptx)), get(d.LoadCode(module, get(code.Module(module))))
					for _, entry := range strings.Split(ptx, "\n.visible .entry ")[1:] {
						kernel, _, _ := strings.Cut(entry, "(")
						want := get(d.Resources(get(d.Kernel(compiled, kernel))))
						got := get(d.Resources(get(d.Kernel(loaded, kernel))))
						gap := want.DynamicSharedBytes - got.DynamicSharedBytes
						if got.MaxThreads != want.MaxThreads || gap < 0 || gap > mostGapBytes {
							t.Errorf("%s of module %s: the %s says %+v, the PTX %+v", kernel, module, code, got, want)
						}
					}
				}
			})
		})
	}
}

// Machine code runs on cards of the same major capability, from the minor one that it was made for.
func TestMachineCodeOfAnotherCardIsRefused(t *testing.T) {
	for _, c := range []struct {
		target, capability int
		runs               bool
	}{{80, 89, true}, {86, 87, true}, {86, 80, false}, {80, 90, false}, {90, 89, false}, {120, 121, true}, {100, 120, false}} {
		t.Run(fmt.Sprintf("%d on %d", c.target, c.capability), func(t *testing.T) {
			d, code := openEmulated(t, fmt.Sprintf("EMULATOR_CAPABILITY=%d", c.capability)), codeFor(t, c.target)
			on(t, d, func() {
				_, err := d.LoadCode("norm", get(code.Module("norm")))
				if c.runs {
					must(err)
				} else {
					wantError(t, err, 209, fmt.Sprintf("for sm_%d", c.target))
				}
			})
		})
	}
}

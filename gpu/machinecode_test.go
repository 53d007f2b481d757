//go:build cuda && linux && cgo

package gpu_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"specula/engine"
	"specula/gpu"
	"specula/kernels/cuda"
)

// A card gets machine code if the program has it for the card. Then the driver is not asked to compile. If it
// refuses the machine code, it compiles the PTX. The replies are the same, and Info says which it was.
func TestKernelsAreMachineCodeOrCompiled(t *testing.T) {
	needEmulator(t)
	const prompt, refuseCode, refusePTX = "who are you?", "EMULATOR_REFUSE_CODE", "EMULATOR_REFUSE_MODULE"
	var first []int32
	for _, c := range []struct{ capability, refused, says string }{
		{"80", refusePTX, "kernels: machine code for sm_80, from the program"},
		{"87", refusePTX, "kernels: machine code for sm_86, from the program"},
		{"90", refusePTX, "kernels: machine code for sm_90, from the program"},
		{"103", refusePTX, "kernels: machine code for sm_100, from the program"},
		{"121", refusePTX, "kernels: machine code for sm_120, from the program"},
		{"110", "", "because the program has no machine code for compute capability 11.0"},
		{"80", refuseCode, "CUDA_ERROR_INVALID_IMAGE (code 200): cuModuleLoadData: the machine code is refused"},
	} {
		t.Run(c.capability+" "+c.refused, func(t *testing.T) {
			capability, err := strconv.Atoi(c.capability)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := cuda.CodeFor(capability).Module("norm"); errors.Is(err, cuda.ErrNotInBuild) {
				t.Skip("gpu/check/pack leaves machine code out: ", err)
			}
			t.Setenv("EMULATOR_CAPABILITY", c.capability)
			if c.refused != "" {
				t.Setenv(c.refused, "1")
			}
			b, err := gpu.Open(t.Context(), "cuda")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			s, err := pair(t, engine.Options{Backend: b})
			if err != nil {
				t.Fatal(err)
			}
			if said := b.Info().Detail; !strings.Contains(said, c.says) {
				t.Errorf("%q does not say %q", said, c.says)
			}
			ids := ask(t, s, prompt).ids
			if first == nil {
				first = ids
			}
			if len(ids) == 0 || !slices.Equal(ids, first) {
				t.Errorf("wrote %v, and %v with the first card", ids, first)
			}
		})
	}
}

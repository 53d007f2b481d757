package cuda

import "testing"

// The machine code was made of the PTX that the program has, by make cubins. Kernels that change need it once,
// when they are final.
func TestMachineCodeIsOfThePTX(t *testing.T) {
	for _, target := range Targets() {
		code := CodeFor(target)
		for _, module := range Modules() {
			if _, err := code.Module(module); err != nil {
				t.Error(err)
			}
		}
		if len(code.images) != len(Modules()) {
			t.Errorf("the %s has %d modules, and there are %d: run make cubins", code, len(code.images), len(Modules()))
		}
	}
}

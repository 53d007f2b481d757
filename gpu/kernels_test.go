package gpu

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// imitationCode is machine code of every module but those that it lacks.
type imitationCode struct{ lacks []string }

var errLacks = errors.New("there is none")

func (c imitationCode) String() string { return "imitation" }
func (c imitationCode) Module(name string) ([]byte, error) {
	if slices.Contains(c.lacks, name) {
		return nil, errLacks
	}
	return []byte("code"), nil
}

// The kernels are loaded as machine code. A module without it, or whose machine code the driver refuses, is
// compiled, and Info says so. Other failures of the driver are not taken for refusals.
func TestHowKernelsAreLoaded(t *testing.T) {
	refusal := &driver.Error{Doing: "loading", Code: 209, Name: "CUDA_ERROR_NO_BINARY_FOR_GPU"}
	all := func(err error) func(string) error { return func(string) error { return err } }
	only := func(module string, err error) func(string) error {
		return func(name string) error {
			if name == module {
				return err
			}
			return nil
		}
	}
	atStart := slices.DeleteFunc(cuda.Modules(), func(module string) bool { // those of weight formats are loaded with a model
		return slices.ContainsFunc(cuda.Packed(), func(f *cuda.Format) bool { return f.Module == module })
	})
	count := strconv.Itoa(len(atStart))
	modules := count + " modules"
	for name, c := range map[string]struct {
		lacks     []string
		code, ptx func(module string) error // how the driver answers
		compiled  func(module string) bool  // what is given to the driver as PTX
		says      string                    // in the error, or in Info if there is none
		wraps     error                     // nil: no error
	}{
		"machine code": {nil, all(nil), all(nil), func(string) bool { return false },
			"kernels: imitation, from the program", nil},
		"a module without": {[]string{"norm"}, all(nil), all(nil), func(m string) bool { return m == "norm" },
			"compiled by the driver, 1 of " + modules + ", because " + errLacks.Error(), nil},
		"one refused": {nil, only("rope", refusal), all(nil), func(m string) bool { return m == "rope" },
			"compiled by the driver, 1 of " + modules + ", because " + refusal.Error(), nil},
		"all refused": {nil, all(refusal), all(nil), func(string) bool { return true },
			"compiled by the driver, " + count + " of " + modules + ", because " + refusal.Error(), nil},
		"refused in both forms": {nil, all(refusal), all(&driver.Error{Doing: "compiling", Code: 218}),
			func(m string) bool { return m == "argmax" }, "the driver had to compile it: " + refusal.Error(), ErrNoDevice},
		"no memory": {nil, all(&driver.Error{Doing: "loading", Code: 2}), all(nil), func(string) bool { return false },
			"loading", compute.ErrOutOfMemory},
		"a lost device": {nil, all(&driver.Error{Doing: "loading", Code: 214}), all(nil), func(string) bool { return false },
			"loading", compute.ErrDeviceLost},
	} {
		t.Run(name, func(t *testing.T) {
			d := newRecorder(t)
			var compiled []string
			d.onLoad = func(form, module string) error {
				if form == "machine code" {
					return c.code(module)
				}
				compiled = append(compiled, module)
				return c.ptx(module)
			}
			b, err := newBackend(d)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			b.modules.code = imitationCode{c.lacks}
			err = b.loadModules()
			said := b.Info().Detail
			if err != nil {
				said = err.Error()
			}
			if !errors.Is(err, c.wraps) || !strings.Contains(said, c.says) {
				t.Errorf("%q, error %v, want %q and %v", said, err, c.says, c.wraps)
			}
			for module := range b.modules.texts {
				loaded := b.modules.modules[module] != 0
				if asked := slices.Contains(compiled, module); asked != c.compiled(module) && (loaded || asked) {
					t.Errorf("the PTX of %s was compiled: %t", module, asked)
				}
			}
		})
	}
}

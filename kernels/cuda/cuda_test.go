package cuda_test

import (
	"path/filepath"
	"strings"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/sim"
)

func TestEveryModuleIsSound(t *testing.T) {
	if len(cuda.Modules()) == 0 {
		t.Fatal("no module is embedded")
	}
	for _, name := range cuda.Modules() {
		text, err := cuda.PTX(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Load(text); err != nil {
			t.Errorf("module %s: %v", name, err)
		}
	}
	if _, err := cuda.PTX("nothing"); err == nil {
		t.Error("there is a module called nothing")
	}
}

func TestEverySourceHasItsModule(t *testing.T) {
	sources, err := filepath.Glob("src/*.cu")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range cuda.Modules() {
		if i >= len(sources) || filepath.Base(sources[i]) != name+".cu" {
			t.Fatalf("the modules are %q, the sources %q: run kernels/cuda/build", cuda.Modules(), sources)
		}
	}
	if len(sources) != len(cuda.Modules()) {
		t.Errorf("the modules are %q, the sources %q: run kernels/cuda/build", cuda.Modules(), sources)
	}
}

// No kernel computes in double precision: graphics cards for games do two such operations in the time of
// 128 in single precision.
func TestNoKernelComputesInDoublePrecision(t *testing.T) {
	for _, module := range cuda.Modules() {
		text, err := cuda.PTX(module)
		if err != nil {
			t.Fatal(err)
		}
		for number, line := range strings.Split(text, "\n") {
			if strings.Contains(line, ".f64") {
				t.Errorf("%s.ptx, line %d: %s", module, number+1, strings.TrimSpace(line))
				break
			}
		}
	}
}

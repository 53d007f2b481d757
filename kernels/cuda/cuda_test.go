package cuda_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/sim"
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

// Every kernel is in some test. Names are often put together, so that a text which is the beginning of a name up to an underline
// counts as the name.
func TestEveryKernelIsTested(t *testing.T) {
	var tests strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			var data []byte
			data, err = os.ReadFile(path)
			tests.Write(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("[\"`]([a-z0-9_]+)").FindAllStringSubmatch(tests.String(), -1) {
		named[m[1]] = true
	}
	for _, module := range cuda.Modules() {
		text, err := cuda.PTX(module)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.entry (\w+)`).FindAllStringSubmatch(text, -1) {
			found := named[m[1]]
			for i := range m[1] {
				found = found || m[1][i] == '_' && named[m[1][:i+1]]
			}
			if !found {
				t.Errorf("kernel %s of module %s is in no test", m[1], module)
			}
		}
	}
}

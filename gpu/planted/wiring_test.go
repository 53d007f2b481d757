//go:build cuda && linux && cgo

package planted

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"specula/gpu/driver/emulated"
)

// plant builds the tests of package gpu, or the library, with the slip and returns both.
func (s slip) plant(t *testing.T, root, program, library string) (string, string) {
	t.Helper()
	if !strings.HasSuffix(s.file, ".go") {
		library, err := emulated.BuildWith("",
			mutant{name: s.name, file: s.file, old: s.old, new: s.new}.plant(t))
		if err != nil {
			t.Fatal(err)
		}
		return program, library
	}
	path := filepath.Join(root, s.file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), s.old); n != 1 {
		t.Fatalf("what the slip replaces stands %d times in %s", n, s.file)
	}
	folder := t.TempDir()
	slipped, overlay := filepath.Join(folder, "slipped.go"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: slipped}})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(slipped, []byte(strings.Replace(string(text), s.old, s.new, 1)),
		0o644), os.WriteFile(overlay, replace, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return gpuTests(t, "-overlay", overlay), library
}

// gpuTests builds the tests of package gpu.
func gpuTests(t *testing.T, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gpu.test")
	build := append([]string{"test", "-c", "-vet=off", "-tags", "cuda", "-o", program}, flags...)
	if said, err := exec.Command("go", append(build, "specula/gpu")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}

// What decides a sampled round is kernels and their wiring; slips of the latter are noticed by the
// tests of package gpu.
func TestEverySlipOfTheWiringIsNoticed(t *testing.T) {
	t.Parallel()
	library, err := emulated.Build("")
	if errors.Is(err, emulated.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	folder, err := emulated.Folder()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(folder, "../../../..")
	list := readSlips(t)
	if len(list) < 10 {
		t.Fatalf("only %d slips were read", len(list))
	}
	right := gpuTests(t)
	for _, s := range list {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			program, library := s.plant(t, root, right, library)
			for tests := range strings.SplitSeq(s.tests, "|") { // each of them by itself
				command := exec.Command(program, "-test.run=^"+strings.ReplaceAll(tests, "/", "$/^")+"$",
					"-test.count=1", "-test.failfast", "-test.timeout=300s")
				command.Dir = filepath.Join(root, "gpu")
				command.Env = append(os.Environ(), "SPECULA_LIBCUDA="+library)
				said, err := command.CombinedOutput()
				if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if err == nil {
					t.Errorf("%s does not notice it:\n%s", tests, said)
				}
			}
		})
	}
}

//go:build cuda && linux && cgo

package planted

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/gpu/driver/emulated"
)

// switchName is the environment variable that holds the name of the slip to run with.
const switchName = "SPECULA_SLIP"

// switchFile is a file that is added to each package with a slip.
const switchFile = "package %s\n\nimport \"os\"\n\nvar slipped = os.Getenv(\"" + switchName + "\")\n"

// testProgram is a program with the tests of package gpu, and the library that it runs on.
type testProgram struct{ program, library string }

// plant builds the tests of package gpu, or the library, with one slip.
func (s slip) plant(t *testing.T, root string, right testProgram) testProgram {
	t.Helper()
	if !strings.HasSuffix(s.file, ".go") {
		library, err := emulated.BuildWith("",
			mutant{name: s.name, file: s.file, old: s.old, new: s.new}.plant(t))
		if err != nil {
			t.Fatal(err)
		}
		return testProgram{right.program, library}
	}
	path := filepath.Join(root, s.file)
	text := read(t, path)
	if n := strings.Count(text, s.old); n != 1 {
		t.Fatalf("what the slip replaces stands %d times in %s", n, s.file)
	}
	return testProgram{gpuTests(t, map[string]string{path: strings.Replace(text, s.old, s.new, 1)}), right.library}
}

// plantAll builds the tests of package gpu with slips that an environment variable switches on, by their files.
func plantAll(t *testing.T, slips map[string][]slip) (program string) {
	t.Helper()
	texts := map[string]string{}
	for path, list := range slips {
		text, err := switched(read(t, path), list)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = text
		folder := filepath.Dir(path)
		texts[filepath.Join(folder, "slipped.go")] = fmt.Sprintf(switchFile, filepath.Base(folder))
	}
	return gpuTests(t, texts)
}

// gpuTests builds the tests of package gpu with other texts of some files.
func gpuTests(t *testing.T, texts map[string]string) (program string) {
	t.Helper()
	folder, replace := t.TempDir(), map[string]string{}
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, text := range texts {
		replace[path] = write(fmt.Sprintf("%d.go", len(replace)), []byte(text))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(folder, "gpu.test")
	if said, err := exec.Command("go", "test", "-c", "-vet=off", "-tags", "cuda", "-overlay", write("overlay.json", list),
		"-o", program, "specula/gpu").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}

// What decides a sampled round is kernels and their wiring. Slips in the wiring are noticed by the
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
	slips, alone := bySwitch(t, root, list)
	right := testProgram{plantAll(t, slips), library}
	// Without a slip switched on, the program is right. The schedules run all tests of the program as it is.
	if said, failed := right.run(t, root, "", "TestRowsHaveNoMeaningAfterTheirPass"); failed {
		t.Fatalf("without a slip:\n%s", said)
	}
	for _, s := range list {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			with := right
			if slices.Contains(alone, s) {
				with = s.plant(t, root, right)
			}
			for tests := range strings.SplitSeq(s.tests, "|") { // each of them by itself
				if said, failed := with.run(t, root, s.name, tests); !failed {
					t.Errorf("%s does not notice it:\n%s", tests, said)
				}
			}
		})
	}
}

// run runs tests with a slip switched on, if it is one that can be.
func (p testProgram) run(t *testing.T, root, slip, tests string) (said []byte, failed bool) {
	t.Helper()
	command := exec.Command(p.program, "-test.run=^"+strings.ReplaceAll(tests, "/", "$/^")+"$",
		"-test.count=1", "-test.failfast", "-test.timeout=300s")
	command.Dir = filepath.Join(root, "gpu")
	command.Env = append(os.Environ(), "SPECULA_LIBCUDA="+p.library, switchName+"="+slip)
	said, err := command.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said, err != nil
}

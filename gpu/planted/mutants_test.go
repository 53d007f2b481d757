//go:build cuda && linux && cgo

package planted

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"specula/gpu/driver/emulated"
)

var every = flag.Bool("every", false,
	"run every lane for every mutant, not only the one that has to notice it")

// lane is one way to run kernels: plain, with several schedules, or with a sanitizer.
type lane struct {
	name, variant string
	seeds         []string
	environment   []string
}

func lanes(t *testing.T) []lane {
	t.Helper()
	return []lane{
		{"plain", "", []string{"0"}, nil},
		{"seeds", "", []string{"1", "2", "3", "4", "5", "6", "7", "8"}, nil},
		{"address", "asan", []string{"0"}, []string{preload(t, "libasan.so", "libubsan.so"),
			"ASAN_OPTIONS=detect_leaks=0:handle_segv=0:allow_user_segv_handler=1"}},
		{"races", "tsan", []string{"0"},
			[]string{preload(t, "libtsan.so"),
				"TSAN_OPTIONS=halt_on_error=1:handle_segv=0:allow_user_segv_handler=1:suppressions=" + suppressions(t)}},
	}
}

// suppressions is the file of races that the thread sanitizer need not report.
func suppressions(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../driver/emulated/library/races.txt")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// preload names the libraries of the sanitizers, which must be in the process from its start.
func preload(t *testing.T, libraries ...string) string {
	t.Helper()
	compiler := os.Getenv("CXX")
	if compiler == "" {
		compiler = "g++"
	}
	var paths []string
	for _, library := range libraries {
		path, err := exec.Command(compiler, "-print-file-name="+library).Output()
		if err != nil {
			t.Skip("there is no C++ compiler")
		}
		paths = append(paths, strings.TrimSpace(string(path)))
	}
	return "LD_PRELOAD=" + strings.Join(paths, ":")
}

// program builds the test binary of gpu/driver.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "driver.test")
	if said, err := exec.Command("go", "test", "-c", "-tags", "cuda", "-o", path,
		"specula/gpu/driver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return path
}

// mutantLimit ends the tests of a mutant that never stops: a bug that makes a kernel loop counts as noticed then.
// Kernels without a bug get several times as long: there no test fails early, and the sanitizer of threads takes
// minutes for all formats.
const mutantLimit, soundLimit = 2 * time.Minute, 15 * time.Minute

// notices runs tests on a library in a lane. It returns the output if they fail or exceed limit, else "".
func (l lane) notices(t *testing.T, program, library, tests string, limit time.Duration, flags ...string) string {
	t.Helper()
	for _, seed := range l.seeds {
		command := exec.Command(program, "-test.run=^("+tests+")$", "-test.count=1", "-test.failfast", "-test.timeout="+limit.String())
		command.Args = append(command.Args, flags...)
		command.Dir = "../driver" // for its testdata
		command.Env = append(os.Environ(),
			append(l.environment, "SPECULA_LIBCUDA="+library, "EMULATOR_SEED="+seed)...)
		said, err := command.CombinedOutput()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return string(said)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return ""
}

func TestKernelsAsTheyAreFailNowhere(t *testing.T) {
	t.Parallel()
	program := program(t)
	for _, l := range lanes(t) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			library, err := emulated.Build(l.variant)
			if errors.Is(err, emulated.ErrNoCompiler) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			var flags []string
			if l.name != "plain" { // one format of each module in all shapes, the others in some
				flags = []string{"-test.short"}
			}
			if said := l.notices(t, program, library, "TestProbes|TestElementwise|TestMatmuls|TestFreshRows", soundLimit, flags...); said != "" {
				t.Error(said)
			}
		})
	}
}

func TestEveryMutantIsNoticed(t *testing.T) {
	t.Parallel()
	program, list := program(t), readMutants(t)
	if len(list) < 20 {
		t.Fatalf("only %d mutants were read", len(list))
	}
	rows := make([]string, len(list))
	t.Cleanup(func() { // after the last mutant
		if *every {
			t.Logf("\n%-50s %10s %10s %10s %10s\n%s", "planted", "plain", "seeds", "address", "races",
				strings.Join(rows, "\n"))
		}
	})
	for i, m := range list {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			edited := m.plant(t)
			row := fmt.Sprintf("%-50s", m.name)
			for _, l := range lanes(t) {
				if l.name != m.lane && !*every {
					continue
				}
				library, err := emulated.BuildWith(l.variant, edited)
				if errors.Is(err, emulated.ErrNoCompiler) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				said := l.notices(t, program, library, m.tests, mutantLimit, m.flags()...)
				if l.name == m.lane && said == "" {
					t.Errorf("%s did not notice it", l.name)
				}
				row += fmt.Sprintf(" %10s", briefly(said))
				if err := os.Remove(edited + ".o"); err != nil { // the next variant has other flags
					t.Fatal(err)
				}
			}
			rows[i] = row
		})
	}
}

// flags leave out the products of modules that the mutant does not change.
func (m mutant) flags() []string {
	_, source, isHeader := strings.Cut(m.file, ":")
	if !isHeader {
		source = m.file
	}
	if module := strings.TrimSuffix(source, ".cu"); strings.HasPrefix(module, "matmul_") {
		return []string{"-module=" + module}
	}
	return nil
}

// plant writes a broken copy of the mutant's file. It returns the path of the source to compile:
// that file or, for a header, a copy of the source that includes it.
func (m mutant) plant(t *testing.T) string {
	t.Helper()
	file, source, isHeader := strings.Cut(m.file, ":")
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := kernelSource(t, file)
	if n := strings.Count(text, m.old); n != 1 {
		t.Fatalf("what the mutant replaces stands %d times in %s", n, file)
	}
	path := write(file, strings.Replace(text, m.old, m.new, 1))
	if isHeader { // a header finds the headers that lie beside it, so all of them lie beside the planted one
		headers, err := filepath.Glob("../../kernels/cuda/src/*.h")
		if err != nil || len(headers) == 0 {
			t.Fatalf("no headers: %v", err)
		}
		for _, h := range headers {
			if name := filepath.Base(h); name != file {
				write(name, kernelSource(t, name))
			}
		}
		path = write(source, kernelSource(t, source))
	}
	return path
}

func briefly(said string) string {
	for _, sign := range []string{"data race", "overflow", "runtime error", "deadlock",
		"different collectives", "multiple", "mask", "FAIL"} {
		if strings.Contains(said, sign) {
			return sign[:min(len(sign), 10)]
		}
	}
	if said == "" {
		return "-"
	}
	return "died"
}

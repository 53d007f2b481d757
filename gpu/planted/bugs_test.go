// Package planted plants bugs in kernels and checks that each is noticed. It runs the tests of
// gpu/driver on an emulated driver with one broken kernel, in the lane (kind of test run) that
// mutants.txt names. With -every it runs all lanes and prints a table.
package planted

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a bug to plant.
type mutant struct {
	name, file, lane, tests, old, new string
}

func readMutants(t *testing.T) []mutant {
	t.Helper()
	text, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n\n")) // skip the explanation
	var list []mutant
	for block := range strings.SplitSeq(string(text), ">>>\n") {
		head, change, ok := strings.Cut(strings.TrimLeft(block, "\n"), "\n<<<\n")
		if !ok {
			continue
		}
		name, where, _ := strings.Cut(head, "\n")
		before, after, found := strings.Cut(change, "===\n")
		fields := strings.Fields(where)
		if !found || len(fields) != 3 {
			t.Fatalf("mutants.txt: %q is not a name, then file, lane and tests, then a change", head)
		}
		list = append(list, mutant{name, fields[0], fields[1], fields[2], strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")})
	}
	return list
}

func kernelSource(t *testing.T, name string) string {
	t.Helper()
	for _, folder := range []string{"../../kernels/cuda/src", "../driver/emulated/library/testdata"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			return string(text)
		}
	}
	t.Fatalf("there is no %s among the kernels", name)
	return ""
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// slip is a bug to plant in Go code or in a kernel; its tests are those of package gpu.
type slip struct{ name, file, tests, old, new string }

func readSlips(t *testing.T) []slip {
	t.Helper()
	text, err := os.ReadFile("wiring.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n\n")) // skip the explanation
	var list []slip
	for block := range strings.SplitSeq(string(text), ">>>\n") {
		head, change, ok := strings.Cut(strings.TrimLeft(block, "\n"), "\n<<<\n")
		if !ok {
			continue
		}
		name, where, _ := strings.Cut(head, "\n")
		file, tests, told := strings.Cut(where, " ")
		before, after, found := strings.Cut(change, "===\n")
		if !found || !told {
			t.Fatalf("wiring.txt: %q is not a name, then file and tests, then a change", head)
		}
		list = append(list, slip{name, file, tests, strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")})
	}
	return list
}

// A change of the code must not make a bug impossible to plant. This test needs no compiler, so everybody
// who runs the tests notices it.
func TestEveryBugStillHasItsPlace(t *testing.T) {
	for _, m := range readMutants(t) {
		file, _, _ := strings.Cut(m.file, ":")
		if n := strings.Count(kernelSource(t, file), m.old); n != 1 {
			t.Errorf("mutants.txt, %q: what it replaces stands %d times in %s, want once", m.name, n, file)
		}
	}
	for _, s := range readSlips(t) {
		var text string
		if strings.HasSuffix(s.file, ".go") {
			text = read(t, filepath.Join("../..", s.file))
		} else {
			file, _, _ := strings.Cut(s.file, ":")
			text = kernelSource(t, file)
		}
		if n := strings.Count(text, s.old); n != 1 {
			t.Errorf("wiring.txt, %q: what it replaces stands %d times in %s, want once", s.name, n, s.file)
		}
	}
}

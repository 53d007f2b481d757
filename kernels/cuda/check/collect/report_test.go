package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"steps.tsv":   "machine\t0\t1\ndriver\t1\t3\nmemcheck\t125\t0\n",
		"machine.log": "abc123\nLinux 6.1 x86_64\ngpu: NVIDIA H200\n580.1, 143771 MiB, 9.0\n",
		"driver.log":  "=== RUN   TestLaunch\n--- PASS: TestLaunch (0.01s)\n--- FAIL: TestGraph (0.01s)\n    --- SKIP: TestX/y (0.00s)\n",
		"benchmarks.log": "=== PACKAGE specula_gpu\ngoos: linux\nBenchmarkDecode/8B-BF16-16   100   4000000 ns/op   0.91 of-copy\n" +
			"BenchmarkVerify5/8B-BF16-16   100   5000000 ns/op   1.2 of-v1\n",
		"ptxas.log": "ptxas info    : Compiling entry function 'add_rows' for 'sm_90'\nptxas info    : Function properties for add_rows\n" +
			"    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\nptxas info    : Used 18 registers, used 0 barriers\n",
		"bench.log": `{"speedup": 2}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goals := "# goals\nDecode/8B-BF16 of-copy >= 0.85 decode\nVerify5/8B-BF16 of-v1 <= 1.10 five rows\nTopK50/152k ms <= 0.05 top-k\n"
	r, err := read(folder, goals)
	if err != nil {
		t.Fatal(err)
	}
	r.Date = "2026-01-02"
	text := r.markdown()
	for _, want := range []string{"# NVIDIA H200, 2026-01-02", "| decode (of-copy) | >= 0.85 | 0.91 | reached |", "| five rows (of-v1) | <= 1.1 | 1.2 | **missed** |",
		"| top-k (ms) | <= 0.05 | not measured | – |", "1 passed, 1 failed, 1 skipped", "- failed: TestGraph", "| add_rows | 18 | 12 |",
		"125: skipped", "| Decode/8B-BF16 | 4e+06 ns/op, 0.91 of-copy |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if string(r.Bench) != `{"speedup": 2}` {
		t.Errorf("bench %s", r.Bench)
	}
}

func TestGoalsOfTheRepository(t *testing.T) {
	text, err := os.ReadFile("../goals.txt")
	if err != nil {
		t.Fatal(err)
	}
	goals, err := readGoals(string(text), nil)
	if err != nil || len(goals) < 10 {
		t.Errorf("%d goals, %v", len(goals), err)
	}
	if _, err := readGoals("Decode of-copy = 1 words", nil); err == nil {
		t.Error("a goal without a relation was accepted")
	}
}

func TestNothingToCollect(t *testing.T) {
	if _, err := read(t.TempDir(), ""); err == nil {
		t.Error("an empty folder made a report")
	}
}

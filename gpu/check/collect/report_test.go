package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"steps.tsv":   "machine\t0\t1\ndriver\t1\t3\nbench-decode\t0\t9\nmemcheck\t125\t0\n",
		"machine.log": "abc123\nLinux 6.1 x86_64\ngpu: NVIDIA H200\n580.1, 143771 MiB, 9.0\n",
		"driver.log":  "=== RUN   TestLaunch\n    bits_test.go:70: bits TestX/embed equal\n    bits_test.go:70: bits TestX/matmul differ\n--- PASS: TestLaunch (0.01s)\n--- FAIL: TestGraph (0.01s)\n    --- SKIP: TestX/y (0.00s)\n",
		"bench-decode.log": "=== PACKAGE specula_gpu\ngoos: linux\nBenchmarkDecode/8B-BF16-16   100   4000000 ns/op   0.91 of-copy\n" +
			"BenchmarkVerify5/8B-BF16-16   100   5000000 ns/op   1.2 of-v1\n",
		"ptxas.log": "ptxas info    : Compiling entry function 'add_rows' for 'sm_90'\nptxas info    : Function properties for add_rows\n" +
			"    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\nptxas info    : Used 18 registers, used 0 barriers\n",
		"bench.log": `{"speedup": 2}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goals := "# goals\nDecode/8B-BF16 of-copy >= 0.85 decode\nVerify5/8B-BF16 of-v1 <= 1.10 five rows\nCutTopK/152k ms <= 0.05 top-k\n"
	r, err := read(folder, goals)
	if err != nil {
		t.Fatal(err)
	}
	r.Date = "2026-01-02"
	text := r.markdown()
	for _, want := range []string{"# NVIDIA H200, 2026-01-02",
		"| decode (of-copy) | >= 0.85 | 0.91 | reached |",
		"| five rows (of-v1) | <= 1.1 | 1.2 | **missed** |",
		"| top-k (ms) | <= 0.05 | not measured | – |", "1 passed, 1 failed, 1 skipped",
		"1 of 2 outputs have", "- differs: TestX/matmul", "- failed: TestGraph", "| add_rows | 18 | 12 |",
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

// The report says on which cards fetching costs time. Where it was not measured, nothing is said.
func TestFetchingThatCostsTimeIsNamed(t *testing.T) {
	for _, c := range []struct {
		metrics map[string]float64
		want    string
	}{
		{map[string]float64{"of-without": 1.03}, "- FetchAhead/8B-Q4_K: 1.030. **It costs time on this card:** let `FetchAhead`"},
		{map[string]float64{"of-without": 0.995}, "0.995. It makes no difference.\n"},
		{map[string]float64{"of-without": 0.9}, "- FetchAhead/8B-Q4_K: 0.900.\n"},
		{map[string]float64{"ms": 1}, ""},
	} {
		var b strings.Builder
		report{Benchmarks: []benchmark{{"FetchAhead/8B-Q4_K", c.metrics}}}.writeFetching(&b)
		if got := b.String(); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v: %q, want %q in it", c.metrics, got, c.want)
		}
	}
}

// A draft step costs 0.5 ms, a pass of any number of rows 10 ms. At α = 0.8, γ = 8 is the best: 4.329
// tokens in 8·0.5 + 10 = 14 ms. γ = 7 writes 4.161 in 13.5 ms, γ = 9 writes 4.463 in 14.5 ms.
func TestSpeeds(t *testing.T) {
	rows := benchmark{"Rows/8B-BF16", map[string]float64{}}
	for m := 1; m <= 16; m++ {
		rows.Metrics[fmt.Sprintf("v%d-ms", m)] = 10
	}
	if got := speeds([]benchmark{rows}); got != nil {
		t.Errorf("without a draft step: %v", got)
	}
	for _, s := range speeds([]benchmark{rows, {"DraftStep/0.6B-BF16", map[string]float64{"ms": 0.5}}}) {
		if s.Alpha != 0.8 {
			continue
		}
		if s.Gamma != 8 || math.Abs(s.TokensPerS-309.2) > 0.1 || s.PlainPerSecond != 100 {
			t.Errorf("%+v", s)
		}
	}
}

func TestARehearsalClaimsNoSpeed(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"steps.tsv":        "bench-draft\t0\t1\n",
		"machine.log":      "gpu: CUDA emulator\n",
		"bench-draft.log":  "BenchmarkRound/8B-16 1 4000000 ns/op 4 ms 20 down-bytes 1 waits\n",
		"bench.log":        `{"speedup": 2}`,
		"bench-unused.log": "BenchmarkOld-16 1 4000000 ns/op\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := read(folder, "Round/8B ms <= 1 a round\n")
	if err != nil {
		t.Fatal(err)
	}
	text := r.markdown()
	if !r.Emulated || r.Bench != nil || strings.Contains(text, "ms") && strings.Contains(text, "4 ms") ||
		len(r.Benchmarks) != 1 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"A rehearsal on the emulated driver",
		"| Round/8B | 20 down-bytes, 1 waits |", "| a round (ms) | <= 1 | rehearsed |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// report is what was measured on a machine.
type report struct {
	Date       string          `json:"date"`
	GPU        string          `json:"gpu"`
	Emulated   bool            `json:"emulated"` // a rehearsal: its times mean nothing
	Machine    []string        `json:"machine"`
	Steps      []step          `json:"steps"`
	Goals      []goal          `json:"goals"`
	Benchmarks []benchmark     `json:"benchmarks"`
	Kernels    []kernel        `json:"kernels"`
	Tests      map[string]int  `json:"tests"` // how many by outcome: pass, fail, skip
	Failures   []string        `json:"failures"`
	Bits       map[string]bool `json:"bits"` // by test and kernel: whether it gave the emulator's bits
	Speeds     []speed         `json:"speeds,omitempty"`
	Bench      json.RawMessage `json:"bench,omitempty"` // the program's benchmark of the demo pair
}

type step struct {
	Name    string `json:"name"`
	Code    int    `json:"code"` // exit code
	Seconds int    `json:"seconds"`
}

type benchmark struct {
	Name    string             `json:"name"`
	Metrics map[string]float64 `json:"metrics"`
}

// kernel is what NVIDIA's assembler reports about a kernel.
type kernel struct {
	Name       string `json:"name"`
	Registers  int    `json:"registers"`
	SpillBytes int    `json:"spill_bytes"`
}

type goal struct {
	Benchmark string   `json:"benchmark"`
	Metric    string   `json:"metric"`
	Relation  string   `json:"relation"`
	Number    float64  `json:"number"`
	Words     string   `json:"words"`
	Measured  *float64 `json:"measured"` // nil: not measured
}

func (g goal) reached() bool {
	return g.Measured != nil && (g.Relation == ">=" && *g.Measured >= g.Number || g.Relation == "<=" &&
		*g.Measured <= g.Number)
}

// read collects the results in a folder. If a log is missing, its part of the report is empty.
func read(folder, goals string) (report, error) {
	log := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(folder, name+".log"))
		return string(text)
	}
	steps, err := os.ReadFile(filepath.Join(folder, "steps.tsv"))
	if err != nil {
		return report{}, fmt.Errorf("reading the list of steps: %w", err)
	}
	r := report{GPU: "no GPU", Machine: lines(log("machine"))}
	if r.Steps, err = readSteps(string(steps)); err != nil {
		return report{}, err
	}
	for _, line := range r.Machine {
		if name, ok := strings.CutPrefix(line, "gpu: "); ok && name != "" {
			r.GPU = name
		}
	}
	r.Emulated = strings.Contains(r.GPU, "emulator")
	for _, s := range r.Steps {
		if strings.HasPrefix(s.Name, "bench-") {
			r.Benchmarks = append(r.Benchmarks, readBenchmarks(log(s.Name))...)
		}
	}
	r.Kernels = readKernels(log("ptxas"))
	r.Tests, r.Failures = readTests(log("driver") + log("tests"))
	r.Bits = readBits(log("driver"))
	if bench := log("bench"); json.Valid([]byte(bench)) && !r.Emulated {
		r.Bench = json.RawMessage(bench)
	}
	if r.Emulated {
		for i := range r.Benchmarks {
			r.Benchmarks[i].dropTimes()
		}
	}
	if r.Goals, err = readGoals(goals, r.Benchmarks); err != nil {
		return report{}, err
	}
	r.Speeds = speeds(r.Benchmarks)
	return r, nil
}

// dropTimes drops the times of a rehearsal and keeps the counts, which do not depend on the machine.
func (b benchmark) dropTimes() {
	for unit := range b.Metrics {
		if unit != "down-bytes" && unit != "waits" {
			delete(b.Metrics, unit)
		}
	}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
}

func readSteps(text string) ([]step, error) {
	var list []step
	for _, line := range lines(text) {
		var s step
		if _, err := fmt.Sscanf(line, "%s\t%d\t%d", &s.Name, &s.Code, &s.Seconds); err != nil {
			return nil, fmt.Errorf("steps.tsv: %q is not a name, a code and seconds: %w", line, err)
		}
		list = append(list, s)
	}
	return list, nil
}

var processors = regexp.MustCompile(`-\d+$`)

// readBenchmarks reads lines like "BenchmarkName/case-16 1000 12.5 ns/op 0.9 of-copy".
func readBenchmarks(text string) []benchmark {
	var list []benchmark
	for _, line := range lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		b := benchmark{processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), ""),
			map[string]float64{}}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				b.Metrics[fields[i+1]] = v
			}
		}
		list = append(list, b)
	}
	return list
}

var (
	compiled  = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	spilled   = regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
)

func readKernels(text string) []kernel {
	var list []kernel
	for _, line := range lines(text) {
		if m := compiled.FindStringSubmatch(line); m != nil {
			list = append(list, kernel{Name: m[1]})
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		if m := spilled.FindStringSubmatch(line); m != nil {
			last.SpillBytes = number(m[1]) + number(m[2])
		}
		if m := registers.FindStringSubmatch(line); m != nil {
			last.Registers = number(m[1])
		}
	}
	return list
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the regular expression matched digits only
	return n
}

var comparison = regexp.MustCompile(`bits (\S+) (equal|differ)`)

func readBits(text string) map[string]bool {
	equal := map[string]bool{}
	for _, m := range comparison.FindAllStringSubmatch(text, -1) {
		equal[m[1]] = m[2] == "equal"
	}
	return equal
}

var outcome = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+)`)

func readTests(text string) (counts map[string]int, failures []string) {
	counts = map[string]int{}
	for _, line := range lines(text) {
		m := outcome.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		counts[strings.ToLower(m[1])]++
		if m[1] == "FAIL" {
			failures = append(failures, m[2])
		}
	}
	return counts, failures
}

func readGoals(text string, benchmarks []benchmark) ([]goal, error) {
	var list []goal
	for _, line := range lines(text) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(fields) == 0 {
			continue
		}
		if len(fields) < 5 || fields[2] != ">=" && fields[2] != "<=" {
			return nil, fmt.Errorf("goals.txt: %q is not a benchmark, a metric, a relation, a number and words", line)
		}
		n, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			return nil, fmt.Errorf("goals.txt: %w", err)
		}
		g := goal{Benchmark: fields[0], Metric: fields[1], Relation: fields[2], Number: n,
			Words: strings.Join(fields[4:], " ")}
		for _, b := range benchmarks {
			if v, ok := b.Metrics[g.Metric]; ok && b.Name == g.Benchmark {
				g.Measured = &v
			}
		}
		list = append(list, g)
	}
	return list, nil
}

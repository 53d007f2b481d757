package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// loop is the inner loop of a product, which takes nearly all of its time.
type loop struct {
	kernel string
	target int // sm_…
	// instructions counts all instructions per mma instruction: a number that stays the same however far
	// the compiler unrolled the loop.
	instructions float64
	registers    int
}

// tools are NVIDIA's assembler and disassembler.
type tools struct{ assembler, disassembler string }

// findTools looks in a folder, then on the path. The error says how to get what is missing.
func findTools(folder string) (tools, error) {
	var found [2]string
	for i, name := range []string{"ptxas", "nvdisasm"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			if path, err = exec.LookPath(name); err != nil {
				return tools{}, fmt.Errorf("%s is not installed: run gpu/check/model/run, which takes it from PyPI", name)
			}
		}
		found[i] = path
	}
	return tools{found[0], found[1]}, nil
}

// loops assembles a module for a target and returns the loops of its products.
func (t tools) loops(ptx string, target int) ([]loop, error) {
	cubin, err := os.CreateTemp("", "specula-*.cubin")
	if err != nil {
		return nil, err
	}
	cubin.Close()
	defer os.Remove(cubin.Name())
	said, err := exec.Command(t.assembler, "-v", fmt.Sprintf("-arch=sm_%d", target), ptx, "-o", cubin.Name()).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("assembling %s for sm_%d: %w\n%s", ptx, target, err, said)
	}
	text, err := exec.Command(t.disassembler, "-c", cubin.Name()).Output()
	if err != nil {
		return nil, fmt.Errorf("disassembling %s for sm_%d: %w", ptx, target, err)
	}
	registers := registersOf(string(said))
	all := hotLoops(string(text))
	for i := range all {
		all[i].target, all[i].registers = target, registers[all[i].kernel]
	}
	return all, nil
}

var (
	sectionLine     = regexp.MustCompile(`^\.text\.(\w+):`)
	compilingLine   = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	usedLine        = regexp.MustCompile(`Used (\d+) registers`)
	labelLine       = regexp.MustCompile(`^(\.L_x_\d+):`)
	instructionLine = regexp.MustCompile(`^\s+/\*[0-9a-f]{4,}\*/\s+(.*);`)
	branch          = regexp.MustCompile("BRA.*`\\((\\.L_x_\\d+)\\)")
)

// registersOf finds in the assembler's output how many registers each kernel takes.
func registersOf(said string) map[string]int {
	registers, kernel := map[string]int{}, ""
	for line := range strings.Lines(said) {
		if m := compilingLine.FindStringSubmatch(line); m != nil {
			kernel = m[1]
		} else if m := usedLine.FindStringSubmatch(line); m != nil {
			registers[kernel], _ = strconv.Atoi(m[1])
		}
	}
	return registers
}

// hotLoops finds the loop of each kernel in a disassembly: the innermost one with the most mma instructions;
// among equals the shortest. It leaves out kernels without mma instructions.
func hotLoops(disassembly string) (all []loop) {
	kernel := ""
	var lines []string // instructions and labels of a kernel
	end := func() {
		if l, ok := hotLoop(lines); ok {
			l.kernel = kernel
			all = append(all, l)
		}
		lines = nil
	}
	scan := bufio.NewScanner(strings.NewReader(disassembly))
	for scan.Scan() {
		line := scan.Text()
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			end()
			kernel = m[1]
		} else if m := labelLine.FindStringSubmatch(line); m != nil {
			lines = append(lines, m[1])
		} else if m := instructionLine.FindStringSubmatch(line); m != nil {
			lines = append(lines, m[1])
		}
	}
	end()
	slices.SortFunc(all, func(a, b loop) int { return strings.Compare(a.kernel, b.kernel) })
	return all
}

func isTile(instruction string) bool {
	return strings.Contains(instruction, "IMMA.") || strings.Contains(instruction, "HMMA.")
}

func hotLoop(lines []string) (hot loop, ok bool) {
	label := map[string]int{}
	var loops [][2]int // the first and last line of each loop with mma instructions, by the last line
	mostTiles, fewest := 0, 0
	for i, line := range lines {
		if strings.HasPrefix(line, ".L_x_") {
			label[line] = i
			continue
		}
		m := branch.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		from, back := label[m[1]]
		if !back {
			continue
		}
		tiles, instructions := 0, 0
		for _, inside := range lines[from : i+1] {
			switch {
			case strings.HasPrefix(inside, ".L_x_"):
			case isTile(inside):
				tiles++
				instructions++
			default:
				instructions++
			}
		}
		// An outer loop also has instructions that run once. One example: the assembler puts a division after all
		// loops, and its jump back looks like a loop around them.
		outer := slices.ContainsFunc(loops, func(l [2]int) bool { return l[0] > from })
		if tiles == 0 || outer {
			continue
		}
		loops = append(loops, [2]int{from, i})
		if tiles > mostTiles || tiles == mostTiles && instructions < fewest {
			mostTiles, fewest = tiles, instructions
			hot.instructions = float64(instructions) / float64(tiles)
		}
	}
	return hot, mostTiles > 0
}

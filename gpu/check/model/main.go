// Command model estimates, without a GPU, how fast passes run on real cards. It reads the launches of
// passes that package gpu recorded (passes.txt). It counts the instructions and registers of each product
// with NVIDIA's assembler and disassembler. Then it adds up times by the assumptions in cards.go. What it
// prints is an estimate, not a measurement.
//
// loops.txt holds the counts of the committed kernels; -update writes it. Every other run fails if a loop is
// not in it or has grown by more than 5 %. -check compares with these counts and prints no estimate.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed passes.txt
var recorded string

const loopsFile = "gpu/check/model/loops.txt"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(1)
	}
}

func run() error {
	folder := flag.String("tools", ".gpu-model", "folder of ptxas and nvdisasm")
	passesFile := flag.String("passes", "", "file of launches to use instead of those of this version")
	update := flag.Bool("update", false, "write "+loopsFile)
	check := flag.Bool("check", false, "compare with "+loopsFile+" and print no estimate")
	flag.Parse()
	found, err := findTools(*folder)
	if err != nil {
		return err
	}
	counted, err := countAll(found, "kernels/cuda/ptx", targets())
	if err != nil {
		return err
	}
	if *update {
		return os.WriteFile(loopsFile, []byte(table(counted)), 0o644)
	}
	known, err := os.ReadFile(loopsFile)
	if err != nil {
		return err
	}
	if grown := grown(string(known), counted); len(grown) > 0 {
		return fmt.Errorf("inner loops grew by more than %d %%; if that is meant, run with -update:\n%s", mostGrowth, strings.Join(grown, "\n"))
	}
	if *check {
		fmt.Printf("%d inner loops have at most %d %% more instructions than %s says\n", len(counted), mostGrowth, loopsFile)
		return nil
	}
	if *passesFile != "" {
		text, err := os.ReadFile(*passesFile)
		if err != nil {
			return err
		}
		recorded = string(text)
	}
	passes, err := readPasses(recorded)
	if err != nil {
		return err
	}
	measured, err := os.ReadFile(measuredFile)
	if err != nil {
		return err
	}
	figures, err := compare(measured)
	if err != nil {
		return err
	}
	report(os.Stdout, withOtherTypes(passes), counted, figures)
	return nil
}

// targets returns the targets of the cards, each once, in ascending order.
func targets() []int {
	found := map[int]bool{}
	for _, c := range cards {
		found[c.target] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// countAll returns the loops of all products on the targets.
func countAll(t tools, folder string, targets []int) (all []loop, err error) {
	modules, err := filepath.Glob(filepath.Join(folder, "matmul_*.ptx"))
	if err != nil || len(modules) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no modules of products in %s: run this at the root of the repository", folder))
	}
	for _, target := range targets {
		for _, module := range modules {
			loops, err := t.loops(module, target)
			if err != nil {
				return nil, err
			}
			all = append(all, loops...)
		}
	}
	return all, nil
}

// table returns the text of loops.txt.
func table(loops []loop) string {
	var text strings.Builder
	text.WriteString("# Inner loops of products: target, kernel, instructions for each multiplication of tiles, registers. Made by: gpu/check/model/run -update\n")
	for _, l := range loops {
		fmt.Fprintf(&text, "sm_%d %s %.2f %d\n", l.target, l.kernel, l.instructions, l.registers)
	}
	return text.String()
}

// readLoops reads a text that table has written; lines that are no loop are left out.
func readLoops(text string) (loops []loop) {
	for line := range strings.Lines(text) {
		var l loop
		if n, _ := fmt.Sscanf(line, "sm_%d %s %g %d", &l.target, &l.kernel, &l.instructions, &l.registers); n == 4 {
			loops = append(loops, l)
		}
	}
	return loops
}

// loopsOf returns the loops of a target by the names of their kernels.
func loopsOf(loops []loop, target int) map[string]loop {
	of := map[string]loop{}
	for _, l := range loops {
		if l.target == target {
			of[l.kernel] = l
		}
	}
	return of
}

// mostGrowth is by how many percent a loop may grow.
const mostGrowth = 5

// grown lists the loops that are not in known, the text of loops.txt, and those whose instructions are more
// than mostGrowth percent above the number there.
func grown(known string, loops []loop) (list []string) {
	was := readLoops(known)
	for _, l := range loops {
		name := fmt.Sprintf("sm_%d %s", l.target, l.kernel)
		switch before, ok := loopsOf(was, l.target)[l.kernel]; {
		case !ok:
			list = append(list, name+": not in "+loopsFile)
		case l.instructions > before.instructions*(1+mostGrowth/100.0):
			list = append(list, fmt.Sprintf("%s: %.2f instructions, before %.2f", name, l.instructions, before.instructions))
		}
	}
	return list
}

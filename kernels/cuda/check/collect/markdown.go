package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// markdown writes the report with what decides first.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n", r.GPU, r.Date)
	for _, line := range r.Machine {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	b.WriteString("\n## Goals\n\n| goal | wanted | measured | |\n|---|---|---|---|\n")
	for _, g := range r.Goals {
		measured, mark := "not measured", "–"
		if g.Measured != nil {
			measured, mark = fmt.Sprintf("%.4g", *g.Measured), "**missed**"
		}
		if g.reached() {
			mark = "reached"
		}
		fmt.Fprintf(&b, "| %s (%s) | %s %g | %s | %s |\n", g.Words, g.Metric, g.Relation, g.Number, measured, mark)
	}
	fmt.Fprintf(&b, "\n## Tests\n\n%d passed, %d failed, %d skipped.\n", r.Tests["pass"], r.Tests["fail"], r.Tests["skip"])
	for _, name := range r.Failures {
		fmt.Fprintf(&b, "- failed: %s\n", name)
	}
	b.WriteString("\n## Benchmarks\n\n| benchmark | measured |\n|---|---|\n")
	for _, x := range r.Benchmarks {
		var values []string
		for _, unit := range slices.Sorted(maps.Keys(x.Metrics)) {
			values = append(values, fmt.Sprintf("%.5g %s", x.Metrics[unit], unit))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", x.Name, strings.Join(values, ", "))
	}
	b.WriteString("\n## Kernels, as NVIDIA's assembler sees them\n\n")
	if len(r.Kernels) == 0 {
		b.WriteString("ptxas did not run.\n")
	} else {
		b.WriteString("| kernel | registers | bytes spilled |\n|---|---|---|\n")
	}
	for _, k := range r.Kernels {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", k.Name, k.Registers, k.SpillBytes)
	}
	b.WriteString("\n## Steps\n\n| step | exit code | seconds |\n|---|---|---|\n")
	for _, s := range r.Steps {
		code := fmt.Sprint(s.Code)
		switch s.Code {
		case 124:
			code = "124: out of time"
		case 125:
			code = "125: skipped, no time was left"
		}
		fmt.Fprintf(&b, "| %s | %s | %d |\n", s.Name, code, s.Seconds)
	}
	return b.String()
}

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// markdown writes the report, the most important part first.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n", r.GPU, r.Date)
	for _, line := range r.Machine {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	if r.Emulated {
		b.WriteString("\n**A rehearsal on the emulated driver.** No GPU took part and models were tiny: it shows that every step runs and that results are\n" +
			"right, and says nothing about speed. Times were left out.\n")
	}
	b.WriteString("\n## Goals\n\n| goal | wanted | measured | |\n|---|---|---|---|\n")
	for _, g := range r.Goals {
		measured, mark := "not measured", "–"
		if r.Emulated && slices.ContainsFunc(r.Benchmarks,
			func(b benchmark) bool { return b.Name == g.Benchmark }) {
			measured = "rehearsed"
		}
		if g.Measured != nil {
			measured, mark = fmt.Sprintf("%.4g", *g.Measured), "**missed**"
		}
		if g.reached() {
			mark = "reached"
		}
		fmt.Fprintf(&b, "| %s (%s) | %s %g | %s | %s |\n", g.Words, g.Metric, g.Relation, g.Number,
			measured, mark)
	}
	fmt.Fprintf(&b, "\n## Tests\n\n%d passed, %d failed, %d skipped.\n", r.Tests["pass"], r.Tests["fail"],
		r.Tests["skip"])
	for _, name := range r.Failures {
		fmt.Fprintf(&b, "- failed: %s\n", name)
	}
	r.writeBits(&b)
	r.writeSpeeds(&b)
	r.writeFetching(&b)
	b.WriteString("\n## Benchmarks\n\n| benchmark | measured |\n|---|---|\n")
	for _, x := range r.Benchmarks {
		var values []string
		for _, unit := range slices.Sorted(maps.Keys(x.Metrics)) {
			values = append(values, fmt.Sprintf("%.5g %s", x.Metrics[unit], unit))
		}
		if len(values) == 0 {
			values = []string{"ran"}
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

// writeBits writes which kernels gave the same bits as on the emulator.
func (r report) writeBits(b *strings.Builder) {
	var different []string
	for _, name := range slices.Sorted(maps.Keys(r.Bits)) {
		if !r.Bits[name] {
			different = append(different, name)
		}
	}
	fmt.Fprintf(b, "\n## Bits\n\n%d of %d outputs have the emulator's bits.\n",
		len(r.Bits)-len(different), len(r.Bits))
	for _, name := range different {
		fmt.Fprintf(b, "- differs: %s\n", name)
	}
}

// writeSpeeds writes how fast speculation would be, computed from the measured costs.
func (r report) writeSpeeds(b *strings.Builder) {
	b.WriteString("\n## Tokens a second of 8B with a draft of 0.6B, by the measured costs\n\n")
	if len(r.Speeds) == 0 {
		b.WriteString("The costs were not measured.\n")
		return
	}
	b.WriteString("| format | α | best γ | tokens a second | plain | speed-up |\n|---|---|---|---|---|---|\n")
	for _, s := range r.Speeds {
		fmt.Fprintf(b, "| %s | %g | %d | %.1f | %.1f | %.2f× |\n", s.Format, s.Alpha, s.Gamma,
			s.TokensPerS, s.PlainPerSecond, s.TokensPerS/s.PlainPerSecond)
	}
}

// writeFetching writes whether attention should fetch weights on this card, if that was measured.
func (r report) writeFetching(b *strings.Builder) {
	const noise = 0.01 // differences up to this share say nothing
	title := "\n## Weights fetched while attention runs: time of a pass of one row, against not fetched\n\n"
	for _, x := range r.Benchmarks {
		of, measured := x.Metrics["of-without"]
		if !measured {
			continue
		}
		fmt.Fprintf(b, "%s- %s: %.3f", title, x.Name, of)
		title = ""
		switch {
		case of > 1+noise:
			b.WriteString(". **It costs time on this card:** let `FetchAhead` in kernels/cuda/fetchahead.go allow less here, or nothing")
		case of >= 1-noise:
			b.WriteString(". It makes no difference")
		}
		b.WriteString(".\n")
	}
}

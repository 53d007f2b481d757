package main

import (
	"fmt"
	"io"
	"slices"
)

// report prints the estimates.
func report(w io.Writer, passes []pass, counted []loop, figures []figure) {
	byTarget := map[int]map[string]loop{}
	for _, target := range targets() {
		byTarget[target] = loopsOf(counted, target)
	}
	find := func(model, format string, rows int) pass {
		for _, p := range passes {
			if p.model == model && p.format == format && p.rows == rows {
				return p
			}
		}
		return pass{}
	}
	fmt.Fprintln(w, "Estimated, not measured: launches as recorded, instructions as disassembled, times by the assumptions of gpu/check/model/cards.go.")
	fmt.Fprintf(w, "\n%-11s %-6s %-5s %8s %9s | %-31s | %8s %9s %9s\n", "model", "type", "card", "launches", "tokens/s",
		"of bandwidth at 1, 5, 9, 17 rows", "v(5)/v(1)", "128 rows/s", "512 rows/s")
	for _, model := range []string{"qwen3-8b", "qwen3-0.6b"} {
		for _, format := range typesOf(passes) {
			for _, c := range cards {
				loops := byTarget[c.target]
				one, launches := estimate(find(model, format, 1), c, loops)
				five, _ := estimate(find(model, format, 5), c, loops)
				fmt.Fprintf(w, "%-11s %-6s %-5s %8d %9.0f |", model, format, c.name, launches, 1e6/one)
				for _, rows := range []int{1, 5, 9, 17} {
					p := find(model, format, rows)
					time, _ := estimate(p, c, loops)
					fmt.Fprintf(w, " %6.0f%%", 100*p.weightBytes()/(time*c.bytes*1e3))
				}
				fmt.Fprintf(w, "     | %8.2f", five/one)
				for _, rows := range []int{128, 512} {
					time, _ := estimate(find(model, format, rows), c, loops)
					fmt.Fprintf(w, " %9.0f", float64(rows)*1e6/time)
				}
				fmt.Fprintln(w)
			}
		}
	}
	fmt.Fprintf(w, "\n%-5s draft step of qwen3-0.6b in ms: Q8_0, F16; first token of a prompt of 512 tokens to qwen3-8b in ms: Q4_K, Q8_0, F16\n", "card")
	for _, c := range cards {
		fmt.Fprintf(w, "%-5s", c.name)
		for _, format := range []string{"Q8_0", "F16"} {
			time, _ := estimate(find("qwen3-0.6b", format, 1), c, byTarget[c.target])
			fmt.Fprintf(w, " %7.2f", time/1e3)
		}
		fmt.Fprint(w, "   ;")
		for _, format := range []string{"Q4_K", "Q8_0", "F16"} {
			time, _ := estimate(find("qwen3-8b", format, 512), c, byTarget[c.target])
			fmt.Fprintf(w, " %7.0f", time/1e3)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nIf one launch stayed on the card for a whole pass of one row: qwen3-8b Q4_K, share of bandwidth; draft step of qwen3-0.6b Q8_0, ms\n")
	for _, c := range cards {
		target, draft := find("qwen3-8b", "Q4_K", 1), find("qwen3-0.6b", "Q8_0", 1)
		loops := byTarget[c.target]
		fmt.Fprintf(w, "%-5s %6.0f%% %7.2f\n", c.name, 100*target.weightBytes()/(staying(target, c, loops)*c.bytes*1e3), staying(draft, c, loops)/1e3)
	}
	calibrate(w)
	fmt.Fprintf(w, "\nThe same assumptions for what the H200 measured, in µs (%s):\n", measuredFile)
	for _, f := range figures {
		fmt.Fprintf(w, "%-40s estimated %7.0f, measured %7.0f: %+.0f %%\n", f.name, f.estimated, f.measured, f.percent())
	}
}

// typesOf lists the types of weights in the order of the passes.
func typesOf(passes []pass) (types []string) {
	for _, p := range passes {
		if !slices.Contains(types, p.format) {
			types = append(types, p.format)
		}
	}
	return types
}

// published are figures of llama.cpp in tokens a second; those of the H200 were measured for this project.
var published = []struct {
	what, card string
	bytes      float64 // of weights, GB
	layers     int
	tokens     float64
	source     string
}{
	{"8B Q4_0", "3090", 4.37, 32, 156.6, "llama.cpp, pull request 15802"},
	{"9B Q4_K_M", "4090", 5.7, 32, 137, "pavlokhmel.com, June 2026"},
	{"9B Q4_K_M", "H100", 5.7, 32, 190, "pavlokhmel.com, June 2026"},
	{"8B Q4_K", "H200", 4.38, 36, 253, "docs/gpu.md"},
	{"8B Q8_0", "H200", 8.04, 36, 226, "docs/gpu.md"},
}

// calibrate applies the same assumptions to decoding by llama.cpp, which shows how far they are off.
// The number of instructions of its kernels is not known. Where that limits their speed, as on Hopper,
// the estimate is too fast.
func calibrate(w io.Writer) {
	fmt.Fprintf(w, "\nThe same assumptions for decoding by llama.cpp, with %d launches of two steps a layer and no limit by instructions:\n", launchesPeer)
	for _, f := range published {
		time := f.bytes*1e6/(streamed*cardNamed(f.card).bytes) + float64(launchesPeer*f.layers)*(gap+2*step)
		tokens := 1e6 / time
		fmt.Fprintf(w, "%-10s %-5s estimated %4.0f tokens/s, published %5.1f (%s): %+.0f %%\n", f.what, f.card, tokens, f.tokens, f.source,
			100*(tokens/f.tokens-1))
	}
}

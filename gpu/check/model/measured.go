package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The launches and loops of the version that the report of the H200 (measuredFile) measured; later versions have
// others.
//
//go:embed h200/passes.txt
var passesThen string

//go:embed h200/loops.txt
var loopsThen string

const measuredFile = "kernels/cuda/reports/2026-11-27-NVIDIA-H200.json"

// figure is a time in µs that the report names, and its estimate.
type figure struct {
	name                string
	measured, estimated float64
}

// percent is by how much the estimate is too long.
func (f figure) percent() float64 { return 100 * (f.estimated/f.measured - 1) }

// compare estimates what the report of the H200 measured, as far as the launches are known. Of the times of single
// kernels it leaves out the first kernel of a pass, because that time contains the host's.
func compare(report []byte) (figures []figure, err error) {
	var measured struct {
		Benchmarks []struct {
			Name    string
			Metrics map[string]float64
		}
	}
	if err := json.Unmarshal(report, &measured); err != nil {
		return nil, fmt.Errorf("%s: %w", measuredFile, err)
	}
	passes, err := readPasses(passesThen)
	if err != nil {
		return nil, err
	}
	c := cardNamed("H200")
	loops := loopsOf(readLoops(loopsThen), c.target)
	rowsOf := map[string]int{"Decode": 1, "DraftStep": 1, "Verify5": 5, "Verify8": 8, "Prefill512": 512}
	for _, b := range measured.Benchmarks {
		add := func(name, metric string, us, estimated float64) {
			if b.Metrics[metric] > 0 {
				figures = append(figures, figure{name, us * b.Metrics[metric], estimated})
			}
		}
		kind, of, _ := strings.Cut(b.Name, "/")
		for _, p := range passes {
			time, _ := estimate(p, c, loops)
			model := p.model + "-" + p.format
			switch {
			case of == model && rowsOf[kind] == p.rows, b.Name == fmt.Sprintf("Product/%s/%s/%d", p.format, p.model, p.rows):
				add(b.Name, "ms", 1000, time)
			case of == model && kind == "Rows":
				add(fmt.Sprintf("%s v%d", b.Name, p.rows), fmt.Sprintf("v%d-ms", p.rows), 1000, time)
			case b.Name == fmt.Sprintf("Kernels/%s/%d", model, p.rows):
				times := map[string]float64{}
				for _, l := range p.launches[1:] {
					times[l.kernel] += float64(l.count) * (2*gap + l.time(p.rows, c, loops)) // the gap and an event
				}
				for _, kernel := range slices.Sorted(maps.Keys(times)) {
					add(b.Name+" "+kernel, kernel+"-us", 1, times[kernel])
				}
			}
		}
	}
	return figures, nil
}

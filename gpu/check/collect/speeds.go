package main

import (
	"fmt"
	"math"
)

// speed is, for an acceptance α, the best draft length with its tokens per second, and the tokens
// per second of plain decoding. Both are computed from the measured costs of the 8B target and the
// 0.6B draft.
type speed struct {
	Format         string  `json:"format"`
	Alpha          float64 `json:"alpha"`
	Gamma          int     `json:"gamma"`
	TokensPerS     float64 `json:"tokens_per_s"`
	PlainPerSecond float64 `json:"plain_tokens_per_s"`
}

// mostGamma is one less than the most rows for which a pass was measured.
const mostGamma = 15

// speeds divides the expected tokens of a round, (1 − α^(γ+1)) / (1 − α), by its time: γ draft steps
// and a pass of γ+1 rows. Formats with a missing cost are left out.
func speeds(benchmarks []benchmark) (list []speed) {
	for _, format := range []string{"BF16", "Q8_0", "Q4_K"} {
		step, ok := metric(benchmarks, "DraftStep/0.6B-"+format, "ms")
		if !ok {
			continue
		}
		var passes [mostGamma + 1]float64
		for i := range passes {
			var measured bool
			passes[i], measured = metric(benchmarks, "Rows/8B-"+format, fmt.Sprintf("v%d-ms", i+1))
			ok = ok && measured
		}
		if !ok {
			continue
		}
		for _, alpha := range []float64{0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
			best := speed{Format: format, Alpha: alpha, PlainPerSecond: 1e3 / passes[0]}
			for gamma, pass := range passes {
				tokens := (1 - math.Pow(alpha, float64(gamma+1))) / (1 - alpha)
				if s := 1e3 * tokens / (float64(gamma)*step + pass); s > best.TokensPerS {
					best.Gamma, best.TokensPerS = gamma, s
				}
			}
			list = append(list, best)
		}
	}
	return list
}

func metric(benchmarks []benchmark, name, unit string) (v float64, ok bool) {
	for _, b := range benchmarks {
		if b.Name == name {
			v, ok = b.Metrics[unit]
		}
	}
	return v, ok
}

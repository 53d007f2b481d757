package bench

import (
	"math/rand/v2"
	"slices"
)

// Interval is an estimate with the ends of its 95 % confidence interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// resamples is the size of the bootstrap. The ends of a 95 % interval are then about the 50th of 2,000
// values from each side. With another seed they differ by a few thousandths.
const resamples = 2000

// speedup returns the ratio of plain to speculative time per token over all prompts. Its interval is a
// percentile bootstrap over prompts. The two replies to a prompt stay together, so that a prompt that is
// slow in both ways does not widen the interval. The result is nil if all plain or all speculative replies
// are empty.
func speedup(pairs []pair, seed uint64) *Interval {
	value, ok := timeRatio(pairs)
	if !ok {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	ratios := make([]float64, 0, resamples)
	drawn := make([]pair, len(pairs))
	for range resamples {
		for i := range drawn {
			drawn[i] = pairs[rng.IntN(len(pairs))]
		}
		if r, ok := timeRatio(drawn); ok {
			ratios = append(ratios, r)
		}
	}
	if len(ratios) == 0 {
		return nil
	}
	slices.Sort(ratios)
	return &Interval{Value: value, Low: quantile(ratios, 0.025), High: quantile(ratios, 0.975)}
}

func timeRatio(pairs []pair) (float64, bool) {
	var plain, speculative Side
	for i := range pairs {
		plain.add(&pairs[i].plain)
		speculative.add(&pairs[i].speculative)
	}
	if plain.MSPerToken() == 0 || speculative.MSPerToken() == 0 {
		return 0, false
	}
	return plain.MSPerToken() / speculative.MSPerToken(), true
}

// quantile returns a quantile of sorted numbers, without interpolation.
func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

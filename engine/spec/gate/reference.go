package gate

import (
	"math"
	"slices"

	"specula/engine/sample"
)

// Distribution is the specification of sample.FromLogits, written for reading: sort all ids, filter, renormalise after every
// step. Scores must be finite or −Inf.
func Distribution(logits []float32, params sample.Params) []float64 {
	ids := make([]int, len(logits))
	for id := range ids {
		ids[id] = id
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0 // stable: the lower id stays in front
	})
	p := make([]float64, len(logits))
	if params.Temperature == 0 {
		p[ids[0]] = 1
		return p
	}
	temperature := params.Temperature
	if params.TemperatureLast {
		temperature = 1
	}
	for id, score := range logits {
		p[id] = math.Exp((float64(score) - float64(logits[ids[0]])) / temperature)
	}
	keepOnly := func(kept []int) {
		sum := 0.0
		for _, id := range kept {
			sum += p[id]
		}
		for id := range p {
			if slices.Contains(kept, id) {
				p[id] /= sum
			} else {
				p[id] = 0
			}
		}
	}
	keepOnly(ids)
	if params.TopK > 0 {
		ids = ids[:min(params.TopK, len(ids))]
		keepOnly(ids)
	}
	if params.TopP < 1 {
		sum := 0.0
		for i, id := range ids {
			if sum += p[id]; sum >= params.TopP {
				ids = ids[:i+1]
				break
			}
		}
		keepOnly(ids)
	}
	if params.MinP > 0 {
		least := params.MinP * p[ids[0]]
		ids = slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return p[id] < least })
		keepOnly(ids)
	}
	if params.TemperatureLast {
		for _, id := range ids {
			p[id] = math.Exp((float64(logits[id]) - float64(logits[ids[0]])) / params.Temperature)
		}
		keepOnly(ids)
	}
	return p
}

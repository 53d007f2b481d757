// Package oracle is sampling without speculation, by definition: each token alone, from the whole
// context. It is slow and written to be read. Tests compare the engine with it, so it uses nothing of
// the packages sample and shape except the names of their settings.
package oracle

import (
	"cmp"
	"math"
	"slices"

	"specula/engine/sample"
)

// Distribution returns what sample.FromLogits must return: the probability of each id. It ranks the
// ids from the best to the worst, applies filter after filter, and renormalises after each. Scores
// must be finite or −Inf.
func Distribution(scores []float32, params sample.Params) []float64 {
	ids := ranked(scores, params.TopK > 0 || params.TopP < 1 || params.MinP > 0)
	p := make([]float64, len(scores))
	if params.Temperature == 0 {
		p[ids[0]] = 1
		return p
	}
	temperature := params.Temperature
	if params.TemperatureLast {
		temperature = 1
	}
	weigh(p, scores, ids, temperature)
	if params.TopK > 0 {
		ids = keepFirst(p, ids, params.TopK)
	}
	if params.TopP < 1 {
		n, sum := 0, 0.0
		for sum < params.TopP && n < len(ids) {
			sum += p[ids[n]]
			n++
		}
		ids = keepFirst(p, ids, n)
	}
	if params.MinP > 0 {
		least := params.MinP * p[ids[0]]
		n := len(ids)
		for p[ids[n-1]] < least {
			n--
		}
		ids = keepFirst(p, ids, n)
	}
	if params.TemperatureLast {
		weigh(p, scores, ids, params.Temperature)
	}
	return p
}

// ranked returns all ids, the best score first, and among equal scores the lower id first. matters says
// whether the whole order matters. If not, only the best id is in its place, and the others are in any order.
func ranked(scores []float32, matters bool) []int {
	ids := make([]int, len(scores))
	best := 0
	for id := range ids {
		ids[id] = id
		if scores[id] > scores[best] {
			best = id
		}
	}
	if !matters {
		ids[0], ids[best] = best, 0
		return ids
	}
	slices.SortFunc(ids, func(a, b int) int {
		if scores[a] != scores[b] {
			return cmp.Compare(scores[b], scores[a])
		}
		return a - b
	})
	return ids
}

// weigh gives each of ids, best first, a probability in proportion to exp(score/temperature).
func weigh(p []float64, scores []float32, ids []int, temperature float64) {
	for _, id := range ids {
		p[id] = math.Exp((float64(scores[id]) - float64(scores[ids[0]])) / temperature)
	}
	keepFirst(p, ids, len(ids))
}

// keepFirst gives all the probability to the first n of ids, and none to the others. It returns the
// n ids.
func keepFirst(p []float64, ids []int, n int) []int {
	n = min(n, len(ids))
	sum := 0.0
	for _, id := range ids[:n] {
		sum += p[id]
	}
	for i, id := range ids {
		if i < n {
			p[id] /= sum
		} else {
			p[id] = 0
		}
	}
	return ids[:n]
}

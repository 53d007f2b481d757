package sample

import (
	"fmt"
	"math"

	"specula/engine/compute"
)

// Sampler turns rows of logits into distributions. It keeps its memory, so that after the first row of
// the largest vocabulary nothing is allocated. The zero Sampler is ready to use. Only one goroutine
// may use it at a time.
type Sampler struct {
	// Arithmetic computes on whole rows, which is most of the work. nil means plain Go, which is the
	// definition, and usually slower. The two differ in the last digits, so do not change Arithmetic within
	// a reply, unless a device has failed.
	Arithmetic compute.Arithmetic

	ids   []int32   // scratch of ranking: up to one id for each token of the vocabulary
	probs []float64 // scratch of Top and Confidence: one number for each token
}

// FromLogits writes to dst the distribution that a token is drawn from, and returns it: the softmax of
// logits/temperature, then top-k, top-p and min-p, each applied to the tokens that are left, then
// renormalised. With TemperatureLast the filters see the softmax of the logits, and the temperature is
// applied last. Temperature 0 gives the one-hot distribution of Argmax, and writes nothing to dst.
//
// logits has one score per id. dst may be longer; the rest of it gets probability 0. So a draft
// model with a smaller vocabulary yields a Dist over the target's vocabulary. To exclude all ids
// from n on, pass logits[:n]: the ids are then masked before every filter. A score of −Inf masks
// its id. NaN, +Inf, or a row without a finite score gives an error that wraps
// compute.ErrNotFinite.
func (s *Sampler) FromLogits(dst []float64, logits []float32, p Params) (Dist, error) {
	best, err := s.argmax(logits)
	if err != nil {
		return Dist{}, err
	}
	if p.Temperature == 0 {
		return OneHot(best), nil
	}
	// Weights are relative to the best token. The best weight is therefore exactly 1 and passes
	// every filter.
	temperature := p.Temperature
	if p.TemperatureLast && p.filters() {
		temperature = 1
	}
	// The reciprocal of the smallest temperatures is +Inf, and 0·Inf would be NaN. So limit it.
	sum := s.weigh(dst[:len(logits)], logits, logits[best], min(1/temperature, math.MaxFloat64))
	clear(dst[len(logits):])
	if !p.filters() {
		s.multiply(dst, 1/sum)
		return Dist{P: dst}, nil
	}
	s.keepBest(dst, logits, p)
	if p.MinP > 0 {
		for i, w := range dst {
			if w < p.MinP {
				dst[i] = 0
			}
		}
	}
	if temperature != p.Temperature {
		warm(dst, logits, float64(logits[best]), p.Temperature)
	}
	s.multiply(dst, 1/sumOf(dst))
	return Dist{P: dst}, nil
}

// warm recomputes the weights of the tokens that the filters left, at the given temperature, for
// TemperatureLast.
func warm(weights []float64, logits []float32, peak, temperature float64) {
	for i, w := range weights {
		if w > 0 {
			weights[i] = math.Exp((float64(logits[i]) - peak) / temperature)
		}
	}
}

// FromLogits is Sampler.FromLogits with a new Sampler.
func FromLogits(dst []float64, logits []float32, p Params) (Dist, error) {
	var s Sampler
	return s.FromLogits(dst, logits, p)
}

// Argmax returns the id with the highest score; among equal scores, the lowest id. NaN, +Inf, or a
// row without a finite score gives an error that names the id and wraps compute.ErrNotFinite.
func Argmax(logits []float32) (int32, error) {
	best, peak := int32(-1), float32(math.Inf(-1))
	for i, score := range logits {
		if score != score || score > math.MaxFloat32 {
			return 0, fmt.Errorf("the score of token %d is %v: %w", i, score, compute.ErrNotFinite)
		}
		if score > peak {
			best, peak = int32(i), score
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("none of %d scores is finite: %w", len(logits), compute.ErrNotFinite)
	}
	return best, nil
}

// keepBest sets to 0 the weights that top-k and then top-p remove. Top-k keeps the k best ids.
// Top-p keeps the smallest number of best ids whose mass is at least TopP times the mass that top-k
// left. Among equal scores the lower id is the better one.
func (s *Sampler) keepBest(weights []float64, logits []float32, p Params) {
	topK := p.TopK > 0 && p.TopK < len(logits)
	if !topK && p.TopP >= 1 {
		return
	}
	rank := s.rank(weights, logits)
	keep, mass := len(rank.ids), 0.0
	if topK {
		keep = min(keep, p.TopK)
		for i := range keep {
			mass += weights[rank.nth(i)]
		}
	} else {
		for _, w := range weights {
			mass += w
		}
	}
	if p.TopP < 1 {
		keep = nucleus(&rank, weights, keep, p.TopP*mass)
	}
	for _, id := range rank.allBut(keep) {
		weights[id] = 0
	}
}

// nucleus returns how many of the n best ids are needed to reach mass: at least 1, and n if all together do not.
func nucleus(rank *ranking, weights []float64, n int, mass float64) int {
	sum := weights[rank.nth(0)]
	for i := 1; i < n; i++ {
		if sum >= mass {
			return i
		}
		sum += weights[rank.nth(i)]
	}
	return n
}

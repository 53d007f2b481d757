package sample

import (
	"fmt"
	"math"

	"specula/engine/compute"
)

// Sampler turns rows of scores into distributions and keeps the scratch for it, so that a token allocates nothing once
// the largest vocabulary was seen. The zero Sampler is ready. It serves one goroutine.
type Sampler struct {
	// Arithmetic does the work on whole rows, which is most of it; nil for plain Go, the definition, which takes ten times as long.
	// The two differ in the last digits, so one reply must be written with one of them.
	Arithmetic compute.Arithmetic
	// Memo, when not nil, remembers what was computed.
	Memo *Memo

	ids   []int32   // (vocab) scratch of ranking
	probs []float64 // (vocab) scratch of Top
}

// FromLogits writes the distribution that a token is drawn from to dst and returns it: the softmax of logits/temperature,
// then top-k, top-p and min-p, each on what the one before left, renormalised. With TemperatureLast the filters see the softmax of
// the logits, and the temperature works on what they left. Temperature 0 gives the one-hot of Argmax.
//
// logits has one score per id; dst may be longer and its tail gets probability 0, so that a draft of a smaller vocabulary
// yields a Dist over the target's. To keep ids from n on out of a distribution, pass logits[:n]: they are then masked before
// every filter. A −Inf score is a masked id; NaN, +Inf or nothing finite gives an error that wraps compute.ErrNotFinite.
func (s *Sampler) FromLogits(dst []float64, logits []float32, p Params) (Dist, error) {
	if s.Memo == nil {
		return s.compute(dst, logits, p)
	}
	key := hash(logits)
	if d, ok := s.Memo.find(key, dst, logits, p, s.Arithmetic != nil); ok {
		return d, nil
	}
	d, err := s.compute(dst, logits, p)
	if err == nil {
		s.Memo.keep(key, d, logits, p, s.Arithmetic != nil)
	}
	return d, err
}

func (s *Sampler) compute(dst []float64, logits []float32, p Params) (Dist, error) {
	best, err := s.argmax(logits)
	if err != nil {
		return Dist{}, err
	}
	if p.Temperature == 0 {
		return OneHot(best), nil
	}
	// Weights are relative to the best one, which therefore is exactly 1 and survives every filter.
	temperature := p.Temperature
	if p.TemperatureLast && p.filters() {
		temperature = 1
	}
	// The smallest temperatures have an infinite reciprocal, and 0 times that is no number.
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

// warm gives the weights that the filters left their temperature, as TemperatureLast asks for.
func warm(weights []float64, logits []float32, peak, temperature float64) {
	for i, w := range weights {
		if w > 0 {
			weights[i] = math.Exp((float64(logits[i]) - peak) / temperature)
		}
	}
}

// FromLogits is Sampler.FromLogits with scratch of its own.
func FromLogits(dst []float64, logits []float32, p Params) (Dist, error) {
	var s Sampler
	return s.FromLogits(dst, logits, p)
}

// Argmax returns the id with the highest score, the lowest id winning ties. NaN, +Inf or no finite score at all gives an
// error that names the id and wraps compute.ErrNotFinite.
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

// keepBest zeroes the weights that top-k and then top-p leave out: the k best, and of these the smallest number that
// reaches the share TopP of their mass. Among equal scores the lower id is the better one.
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

// nucleus counts how many of the n best ids it takes to reach mass; at least one.
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

package sample

import (
	"math"

	"specula/engine/compute"
)

// The operations of a Sampler on whole rows. Each uses Arithmetic; if that is nil, it uses plain Go.

func (s *Sampler) argmax(logits []float32) (int32, error) {
	if s.Arithmetic != nil {
		if best, ok := s.Arithmetic.Best(logits); ok {
			return int32(best), nil
		}
	}
	return Argmax(logits) // its error names the id at fault
}

// weigh writes exp((logits[i] − peak)·factor) to dst and returns the sum.
func (s *Sampler) weigh(dst []float64, logits []float32, peak float32, factor float64) (sum float64) {
	if s.Arithmetic != nil {
		return s.Arithmetic.Weights(dst, logits, peak, factor)
	}
	for i, score := range logits {
		dst[i] = math.Exp((float64(score) - float64(peak)) * factor)
	}
	return sumOf(dst)
}

func (s *Sampler) multiply(x []float64, factor float64) {
	if s.Arithmetic != nil {
		s.Arithmetic.Multiply(x, factor)
		return
	}
	for i := range x {
		x[i] *= factor
	}
}

// sumOf keeps four partial sums. With a single sum every addition would wait for the one before.
func sumOf(x []float64) float64 {
	var sums [4]float64
	n := len(x) &^ 3
	for i := 0; i < n; i += 4 {
		four := x[i : i+4 : i+4]
		sums[0] += four[0]
		sums[1] += four[1]
		sums[2] += four[2]
		sums[3] += four[3]
	}
	for _, v := range x[n:] {
		sums[0] += v
	}
	return sums[0] + sums[1] + (sums[2] + sums[3])
}

// Use makes the Sampler compute by the methods of scores, or of the logits that scores wrap, if these
// implement compute.Arithmetic. Otherwise the Sampler computes in plain Go.
func (s *Sampler) Use(scores any) {
	if made, ok := scores.(interface{ Unwrap() compute.Logits }); ok {
		scores = made.Unwrap()
	}
	s.Arithmetic, _ = scores.(compute.Arithmetic)
}

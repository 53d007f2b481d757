package sample

import "math"

// LogProbs returns the natural logarithm of the softmax of logits for one id, and for the n ≥ 1 best ids at most, best first, with the
// logarithm in Candidate.P. Scores that are not finite are errors as in FromLogits; id must have a finite one.
func (s *Sampler) LogProbs(logits []float32, id int32, n int) (own float64, top []Candidate, err error) {
	if top, err = s.Top(logits, n, Params{}); err != nil {
		return 0, nil, err
	}
	// Taken from differences of scores, a logarithm is right where the probability itself is too small for a float64.
	norm := float64(logits[top[0].ID]) - math.Log(top[0].P)
	for i := range top {
		top[i].P = float64(logits[top[i].ID]) - norm
	}
	return float64(logits[id]) - norm, top, nil
}

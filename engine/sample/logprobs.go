package sample

import "math"

// LogProbs returns the natural logarithm of the softmax of logits for one id, and for the at most n best ids, best first, with the
// logarithm in Candidate.P. Scores that are not finite are errors as in FromLogits; id must have a finite one.
func (s *Sampler) LogProbs(logits []float32, id int32, n int) (own float64, top []Candidate, err error) {
	best, err := Argmax(logits)
	if err != nil {
		return 0, nil, err
	}
	peak, sum := float64(logits[best]), 0.0
	for _, score := range logits {
		sum += math.Exp(float64(score) - peak)
	}
	norm := peak + math.Log(sum)
	if top, err = s.Top(logits, n, Params{}); err != nil {
		return 0, nil, err
	}
	for i := range top {
		top[i].P = float64(logits[top[i].ID]) - norm
	}
	return float64(logits[id]) - norm, top, nil
}

package sample

import "math"

// LogProbs returns the natural logarithm of the softmax of logits for one id, and for at most n ≥ 1
// of the best ids, best first. Candidate.P then holds the logarithm. Logits that are not finite are
// errors as in FromLogits; the score of id must be finite.
func (s *Sampler) LogProbs(logits []float32, id int32, n int) (own float64, top []Candidate, err error) {
	if top, err = s.Top(logits, n, Params{}); err != nil {
		return 0, nil, err
	}
	// Differences of logits give the right logarithm even where the probability is too small for a
	// float64.
	norm := float64(logits[top[0].ID]) - math.Log(top[0].P)
	for i := range top {
		top[i].P = float64(logits[top[i].ID]) - norm
	}
	return float64(logits[id]) - norm, top, nil
}

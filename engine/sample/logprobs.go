package sample

import (
	"math"

	"specula/engine/compute"
)

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

// RankedLogProbs returns what LogProbs returns for the row's own token, from what a device has found in the row.
// r.Sum must not be 0. The device computes exp(score − best) in float32 with a relative error below 1e-6, and
// rounds the difference before. So the logarithms differ from those of LogProbs by less than 2e-6 for vocabularies
// below a million.
func RankedLogProbs(r *compute.Ranked) (own float64, top []Candidate) {
	norm := float64(r.Top[0].Score) + math.Log(r.Sum)
	for _, t := range r.Top {
		p := float64(t.Score) - norm
		if math.Exp(p) == 0 {
			break // LogProbs leaves out tokens whose probability is too small for a float64
		}
		top = append(top, Candidate{ID: t.ID, P: p})
	}
	return float64(r.Own.Score) - norm, top
}

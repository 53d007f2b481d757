package sample

// Candidate is one entry of a distribution.
type Candidate struct {
	ID int32
	P  float64
}

// Top returns the at most n most probable tokens, best first, with the probability a draw would give them.
// At temperature 0, where that is 1 for one token, it gives the plain softmax instead, which is what a reader wants to see.
func (s *Sampler) Top(logits []float32, n int, p Params) ([]Candidate, error) {
	if p.Temperature == 0 {
		p = Params{Temperature: 1, TopP: 1}
	}
	if cap(s.probs) < len(logits) {
		s.probs = make([]float64, len(logits))
	}
	d, err := s.FromLogits(s.probs[:len(logits)], logits, p)
	if err != nil {
		return nil, err
	}
	return s.Best(d, logits, n), nil
}

// Best returns the at most n most probable tokens of a distribution that was made of logits and is not one-hot, best first.
func (s *Sampler) Best(d Dist, logits []float32, n int) []Candidate {
	rank := s.rank(d.P, logits)
	top := make([]Candidate, min(n, len(rank.ids)))
	for i := range top {
		id := rank.nth(i)
		top[i] = Candidate{ID: id, P: d.P[id]}
	}
	return top
}

// Confidence returns the probability that the plain softmax of logits gives to id: how sure a model is of a choice that it
// made greedily, where the probability of the draw itself is 1. id must be the best.
func (s *Sampler) Confidence(logits []float32, id int32) float64 {
	if cap(s.probs) < len(logits) {
		s.probs = make([]float64, len(logits))
	}
	return 1 / s.weigh(s.probs[:len(logits)], logits, logits[id], 1)
}

package sample

// Candidate is one entry of a distribution.
type Candidate struct {
	ID int32
	P  float64
}

// Top returns at most n tokens, the most probable first, each with the probability that a draw
// would give it. At temperature 0 that would be 1 for a single token; Top then returns the softmax
// at temperature 1, which tells more.
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

// Best returns at most n tokens of a distribution, the most probable first. The distribution must
// come from logits and must not be one-hot.
func (s *Sampler) Best(d Dist, logits []float32, n int) []Candidate {
	rank := s.rank(d.P, logits)
	top := make([]Candidate, min(n, len(rank.ids)))
	for i := range top {
		id := rank.nth(i)
		top[i] = Candidate{ID: id, P: d.P[id]}
	}
	return top
}

// Confidence returns the probability of id in the softmax of logits at temperature 1. It tells how
// sure a model is of a token that it chose greedily, where the probability of the draw itself is 1.
// id must be the best token: the weights are relative to its score.
func (s *Sampler) Confidence(logits []float32, id int32) float64 {
	if cap(s.probs) < len(logits) {
		s.probs = make([]float64, len(logits))
	}
	return 1 / s.weigh(s.probs[:len(logits)], logits, logits[id], 1)
}

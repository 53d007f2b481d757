package ref

import "slices"

// Ranking is what the GPU tells of a row for log-probabilities. With b, the best score, the log-probability of a
// token is its score − b − ln Σ exp(score − b).
type Ranking struct {
	Sum uint64   // Σ exp(score − b), each as Mass; 0 for a row that Argmax refuses
	Own uint64   // the key (KeyOf) of the token that was asked for, 0 for an id outside the row
	Top []uint64 // the k largest keys, the largest first; 0 where the row has no more
}

// RankRow ranks the k best tokens of a row. own is the token whose score is told, too.
func RankRow(scores []float32, own, k int) Ranking {
	r := Ranking{Top: make([]uint64, k)}
	keys := make([]uint64, len(scores))
	for id, score := range scores {
		keys[id] = KeyOf(score, id)
	}
	if own >= 0 && own < len(keys) {
		r.Own = keys[own]
	}
	if best, ok := Argmax(scores); ok {
		for _, score := range scores {
			r.Sum += Mass(Exp(score-scores[best]), massUnit(len(scores)))
		}
	}
	slices.Sort(keys)
	slices.Reverse(keys)
	copy(r.Top, keys)
	return r
}

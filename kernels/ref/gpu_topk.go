package ref

import (
	"math"
	"slices"
)

// Penalties lower the scores of tokens by how often they were written recently. The struct has the
// layout that the GPU kernels read.
type Penalties struct{ Repeat, Frequency, Presence float64 }

// Penalise returns the score of a token that was written count times. A finite score stays finite,
// and one that is not finite is returned unchanged.
func (p Penalties) Penalise(score float32, count int) float32 {
	if score-score != 0 {
		return score
	}
	s := float64(score)
	if score > 0 {
		s /= p.Repeat
	} else {
		s *= p.Repeat
	}
	s = s - float64(float64(count)*p.Frequency) - p.Presence
	return float32(min(max(s, -math.MaxFloat32), math.MaxFloat32))
}

// PenaliseRow returns the scores of a row after penalties. counts holds how often each written
// token occurs.
func (p Penalties) PenaliseRow(scores []float32, counts map[int32]int32) []float32 {
	row := slices.Clone(scores)
	for id, n := range counts {
		if id < 0 || int(id) >= len(row) {
			continue
		}
		if row[id] = p.Penalise(scores[id], int(n)); row[id] == 0 {
			row[id] = 0 // −0 becomes 0
		}
	}
	return row
}

// TopK returns the k best tokens of a row, best first (among equal scores, the lower id first), and
// their scores divided by the temperature. NaN and +Inf come first.
func TopK(scores []float32, k int, temperature float32) (ids []int32, best []float32) {
	keys := make([]uint64, len(scores))
	for id, s := range scores {
		keys[id] = KeyOf(s, id)
	}
	slices.Sort(keys)
	for i := range k {
		id := int32(^uint32(keys[len(keys)-1-i]))
		ids, best = append(ids, id), append(best, scores[id]/temperature)
	}
	return ids, best
}

// FilterPairs returns how many of the k best tokens remain after top-p and then min-p; 0 if the
// best score is not finite. best holds their scores divided by the temperature. TopP keeps the
// fewest tokens that reach that share of the weight of all k.
func FilterPairs(best []float32, f Filters) int {
	peak := best[0]
	if peak-peak != 0 {
		return 0
	}
	weight := func(j int) float64 { return float64(Exp(best[j] - peak)) }
	goal, before := float64(f.TopP)*Total(len(best), weight), 0.0
	for base := 0; base < len(best); base += lanes {
		var w [lanes]float64
		for i := range min(lanes, len(best)-base) {
			w[i] = weight(base + i)
		}
		upto := runningSums(w)
		for i := range min(lanes, len(best)-base) {
			if w[i] == 0 || float32(w[i]) < f.MinP {
				return base + i
			}
			if f.TopP < 1 && before+upto[i] >= goal {
				return base + i + 1
			}
		}
		before += upto[lanes-1]
	}
	return len(best)
}

// CutRow returns the smallest key (KeyOf) that top-k and then top-p keep in a row. It returns 0 if
// neither filter is on, and for a row that Argmax refuses. Masses are weights in units of 2^-40.
// TopP keeps the fewest tokens that reach that share of the mass of all k. Tokens so light that a
// whole row of them fits into the rest of the mass are skipped.
func CutRow(scores []float32, f Filters) uint64 {
	best, ok := Argmax(scores)
	if !ok {
		return 0
	}
	keys := make([]uint64, len(scores))
	for id, s := range scores {
		keys[id] = KeyOf(s, id)
	}
	slices.Sort(keys)
	slices.Reverse(keys)
	cut := uint64(0)
	if k := int(f.TopK); k > 0 && k < len(keys) {
		keys = keys[:k]
		cut = keys[k-1]
	}
	if f.TopP >= 1 {
		return cut
	}
	masses, all := make([]uint64, len(keys)), uint64(0)
	for i, key := range keys {
		score := scores[^uint32(key)]
		masses[i] = uint64(float64(Exp((score-scores[best])/f.FilterTemperature)) * (1 << 40))
		all += masses[i]
	}
	wanted := uint64(float64(f.TopP) * float64(all))
	negligible, sum := (all-wanted)/uint64(len(scores)), uint64(0)
	for i, key := range keys {
		if masses[i] <= negligible {
			continue
		}
		if sum += masses[i]; sum >= max(wanted, 1) {
			return key
		}
	}
	panic("ref: the masses do not reach a share of their sum")
}

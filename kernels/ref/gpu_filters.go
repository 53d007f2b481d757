package ref

import "slices"

// CutRow returns the smallest key (KeyOf) that top-k and then top-p keep in a row. It returns 0 if
// neither filter is on, and for a row that Argmax refuses. Of the k best tokens (all tokens if top-k is
// off), top-p keeps the fewest that together have TopP times their mass. Masses are in units of 2^-40.
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
		masses[i] = Mass(Exp((score-scores[best])/f.FilterTemperature), 40)
		all += masses[i]
	}
	wanted, sum := max(shareOf(f.TopP, all), 1), uint64(0)
	for i, key := range keys {
		if sum += masses[i]; sum >= wanted {
			return key
		}
	}
	panic("ref: the masses do not reach a share of their sum")
}

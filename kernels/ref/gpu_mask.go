package ref

import "math"

// MaskRow makes the scores −Inf whose tokens a mask does not allow. The bit of a token id is bit id%64 of
// allowed[id/64].
func MaskRow(scores []float32, allowed []uint64) {
	for id := range scores {
		if allowed[id/64]>>(id%64)&1 == 0 {
			scores[id] = float32(math.Inf(-1))
		}
	}
}

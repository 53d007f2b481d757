package cpu

import "math"

// argmaxChunk is how many scores are looked at together; only a chunk with a new best is searched for its place.
const argmaxChunk = 2048

// Argmax returns the index of the largest score, the lowest among equals. ok is false when a score is NaN or +Inf,
// or when none is finite: then there is no best.
func Argmax(scores []float32) (best int, ok bool) {
	highest, chunk := float32(math.Inf(-1)), -1
	for start := 0; start < len(scores); start += argmaxChunk {
		here := largest(scores[start:min(start+argmaxChunk, len(scores))])
		if here != here || here > math.MaxFloat32 {
			return -1, false
		}
		if here > highest {
			highest, chunk = here, start
		}
	}
	if chunk < 0 {
		return -1, false
	}
	for scores[chunk] != highest {
		chunk++
	}
	return chunk, true
}

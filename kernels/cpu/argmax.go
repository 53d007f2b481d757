package cpu

import "math"

// argmaxChunk is how many scores are compared at once. Only the chunk with the best score is
// searched for its index.
const argmaxChunk = 2048

// Argmax returns the index of the largest score; among equal scores, the lowest index. ok is false
// if a score is NaN or +Inf, or if no score is finite.
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

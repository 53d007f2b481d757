package ref

import "math"

// GuideScore is a score under classifier-free guidance: without + scale·(with − without). Each step rounds
// to float32. with is the score after the prompt, without that after the negative prompt. If either is
// −Inf, with stays.
func GuideScore(with, without, scale float32) float32 {
	if forbidden := float32(math.Inf(-1)); with == forbidden || without == forbidden {
		return with
	}
	return without + float32(scale*(with-without))
}

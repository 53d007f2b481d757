package ref

import "math"

// GuideScore returns the score of a token under classifier-free guidance: negative + scale·(score −
// negative). score is the token's score after the prompt, negative its score after the negative prompt. Each
// operation rounds to float32. If one of the two is −Inf, the result is score.
func GuideScore(score, negative, scale float32) float32 {
	if forbidden := float32(math.Inf(-1)); score == forbidden || negative == forbidden {
		return score
	}
	return negative + float32(scale*(score-negative))
}

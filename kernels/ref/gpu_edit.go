package ref

import "math"

// Edits say how the rows of a round change before a token is chosen or drawn.
type Edits struct {
	Repeat, Frequency, Presence float32 // Repeat is 0 without penalties
	Tokens                      []Edit  // in ascending order of ids, each once
	Leaving                     []int32 // the token that leaves the penalised context when draft token i joins it; −1: none
}

// Edit is what changes the score of one token.
type Edit struct {
	ID     int32
	Count  int32 // how often penalties count the token before the round
	Bias   float32
	Banned int32 // the token is banned in rows 0 … Banned−1 of the round
}

// EditRow edits a row that stands after the draft tokens in draft.
func EditRow(scores []float32, e Edits, draft []int32) {
	edits := map[int32]Edit{}
	for _, t := range e.Tokens {
		edits[t.ID] = t
	}
	count := func(id, by int32) {
		t := edits[id]
		t.Count += by
		edits[id] = t
	}
	for i, id := range draft {
		count(id, 1)
		if e.Leaving[i] >= 0 {
			count(e.Leaving[i], -1)
		}
	}
	for id, t := range edits {
		if id < 0 || int(id) >= len(scores) {
			continue
		}
		score := scores[id]
		if t.Bias != 0 {
			score = AddToScore(score, t.Bias)
		}
		if t.Count > 0 && e.Repeat > 0 {
			score = PenaliseScore(score, e.Repeat, e.Frequency, e.Presence, t.Count)
		}
		if len(draft) < int(t.Banned) {
			score = float32(math.Inf(-1))
		}
		scores[id] = score
	}
}

// AddToScore adds a bias to a score, and keeps a finite score finite.
func AddToScore(score, bias float32) float32 { return finiteScore(score, score+bias) }

// PenaliseScore applies penalties to the score of a token that was written count times. Each step rounds to
// float32.
func PenaliseScore(score, repeat, frequency, presence float32, count int32) float32 {
	fewer := float32(score * repeat)
	if score > 0 {
		fewer = score / repeat
	}
	return finiteScore(score, fewer-float32(float32(count)*frequency)-presence)
}

// finiteScore bounds an edited score to finite numbers. A score that was −Inf stays so; NaN stays, too.
func finiteScore(was, score float32) float32 {
	if was < -math.MaxFloat32 {
		return was
	}
	return min(max(score, -math.MaxFloat32), math.MaxFloat32)
}

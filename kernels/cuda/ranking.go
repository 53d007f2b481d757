package cuda

import (
	"math"
	"math/bits"
)

// MostRanked is the largest k of rank_rows. RankBytes is the memory for a row that its blocks share: the best
// keys of each of MostRanked slices. A sum of 8 bytes for each slice of the vocabulary comes in addition.
const (
	MostRanked = 20
	RankBytes  = 8 * MostRanked * MostRanked
)

// RankedWords is the number of words of 8 bytes that rank_rows writes for a row.
func RankedWords(k int) int { return 2 + k }

// Scored is a token with its score.
type Scored struct {
	ID    int32
	Score float32
}

// Ranking decodes a row of rank_rows: the row's own token, the best tokens, and the sum of exp(score − best score)
// over the row. The sum is 0 if the row has NaN or +Inf, or no finite score; then own and top have no meaning.
func Ranking(words []uint64, vocab int) (own Scored, top []Scored, sum float64) {
	for _, key := range words[2:] {
		if key != 0 {
			top = append(top, scored(key))
		}
	}
	unit := 63 - bits.Len(uint(vocab)) // as unit_of in src/mass.h
	return scored(words[1]), top, math.Ldexp(float64(words[0]), -unit)
}

// scored decodes a key; see src/rank.h.
func scored(key uint64) Scored {
	u := uint32(key >> 32)
	if u>>31 == 1 {
		u ^= 1 << 31
	} else {
		u = ^u
	}
	return Scored{ID: int32(^uint32(key)), Score: math.Float32frombits(u)}
}

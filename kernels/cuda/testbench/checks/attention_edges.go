package checks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// ManySplits checks attention over more splits than the kernels combine at once. With a window, the splits
// before it have no result. exact is as in Attention.
func ManySplits(t *testing.T, launch Launch, exact bool) {
	t.Helper()
	for _, c := range []struct {
		window int
		sinks  any
	}{{0, []float32{0, -3, 4}}, {2100, nil}} {
		r := rand.New(rand.NewPCG(11, uint64(c.window)))
		const rows, sharing, headDim, length = 3, 3, 64, 2558 // the last row sees one split more than the first
		s := newSequence(launch, true, sharing, 1, headDim, 2816)
		s.window, s.sinks = c.window, c.sinks
		s.fill(r, length, rows)
		q := numbers(r, rows*sharing*headDim)
		want, _ := s.want(q, 0)
		for _, tiles := range s.tiles() {
			what := fmt.Sprintf("%d keys, a window of %d, %d tiles", length, c.window, tiles)
			s.compare(t, what, s.attend(q, 0, tiles, 16), want, exact)
			s.checkOperand(t, what, q, 0, tiles, 16)
		}
	}
}

// ScoresAtTheEdges checks weights for all kinds of differences between a score and the largest one: so far
// below that the weight is 0, infinite, or NaN. If exact is false, only the two ways to combine are compared. Scores are the first numbers of the keys.
func ScoresAtTheEdges(t *testing.T, launch Launch, exact bool) {
	t.Helper()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, score := range map[string]func(i int) float32{
		"small steps":          func(i int) float32 { return -float32(i) / 512 },
		"to the smallest half": func(i int) float32 { return -float32(i) / 14 },
		"to the smallest e^x":  func(i int) float32 { return -float32(min(i, 1)) * (80 + float32(i)/8) },
		"far below":            func(i int) float32 { return -60000 * float32(i%3) },
		"some −∞":              func(i int) float32 { return only(i%2 == 1, -inf) },
		"nothing but −∞":       func(int) float32 { return -inf },
		"one ∞":                func(i int) float32 { return only(i == 77, inf) },
		"one NaN":              func(i int) float32 { return only(i == 77, nan) },
		"nothing but NaN":      func(int) float32 { return nan },
	} {
		r := rand.New(rand.NewPCG(12, 0))
		const headDim, length = 64, 299
		s := newSequence(launch, true, 1, 1, headDim, 512)
		k := make([]float32, (length+1)*headDim)
		for i := range length + 1 {
			k[i*headDim] = score(i)
		}
		s.append(k, numbers(r, (length+1)*headDim), 0)
		s.length[0] = length
		q := make([]float32, headDim)
		q[0] = 8 // scores are divided by √64
		want, _ := s.want(q, 0)
		for _, tiles := range s.tiles() {
			what := fmt.Sprintf("scores with %s, %d tiles", name, tiles)
			if got := s.attend(q, 0, tiles, 2); exact {
				sameBits(t, what, got, want)
			}
			s.checkOperand(t, what, q, 0, tiles, 2)
		}
	}
}

// only returns a score for some keys, and 0 for the others.
func only(some bool, score float32) float32 {
	if some {
		return score
	}
	return 0
}

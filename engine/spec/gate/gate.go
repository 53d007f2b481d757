package gate

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"specula/engine/stat"
)

// Limit is the normal deviate above which a test fails. With a few hundred tests per run, correct code
// exceeds it in about one of 10⁵ runs with new seeds. With fixed seeds every run gives the same result.
const Limit = 5.5

// Played is the beginning of one reply after Root.
type Played struct {
	Tokens []int32 // at least one; tokens beyond those that are judged are ignored
	// Bonus is the index in Tokens of the reply's first bonus token, or −1 if there is none. It is not the
	// last one: whether a bonus token is the last depends on its own value and on later tokens. So the last
	// one does not have the target's distribution.
	Bonus int
}

// Test is the outcome of one comparison.
type Test struct {
	Name string
	Z    float64 // the difference as a normal deviate; a fault if above Limit
}

// Report lists the comparisons of one run.
type Report []Test

// Failures names the tests that found a difference; empty if there are none.
func (r Report) Failures() string {
	var out []string
	for _, t := range r {
		if t.Z > Limit {
			out = append(out, fmt.Sprintf("%s z = %.1f", t.Name, t.Z))
		}
	}
	return strings.Join(out, ", ")
}

// Judge calls play for trials replies, and compares their first length tokens with the world's exact
// distribution. It compares each position alone, each pair of neighbours, and the bonus tokens given the
// token before them. It continues a shorter reply by draws from the exact distribution, which cannot hide
// a wrong beginning.
func (w *World) Judge(trials, length int, seed uint64, play func(trial int) Played) Report {
	rng := rand.New(rand.NewPCG(seed, 2))
	single := make([][]int, length) // counts of tokens, (position, vocab)
	pairs := make([][]int, length)  // counts of pairs, by position; the index of a pair is the token before times vocab, plus the token
	bonus := make([][]int, length*w.Vocab)
	for i := range length {
		single[i] = make([]int, w.Vocab)
		pairs[i] = make([]int, w.Vocab*w.Vocab)
		for before := range w.Vocab {
			bonus[i*w.Vocab+before] = make([]int, w.Vocab)
		}
	}
	for trial := range trials {
		played := play(trial)
		before := Root
		for i := range length {
			var id int32
			if i < len(played.Tokens) {
				id = played.Tokens[i]
			} else {
				id = w.draw(i, before, rng.Float64())
			}
			single[i][id]++
			pairs[i][int(before)*w.Vocab+int(id)]++
			if i == played.Bonus {
				bonus[w.row(i, before)][id]++
			}
			before = id
		}
	}
	return w.compare(single, pairs, bonus)
}

// draw samples from the exact distribution by inverse transform. It shares no code with what is tested.
func (w *World) draw(position int, before int32, u float64) int32 {
	last := int32(0)
	for id, p := range w.P(position, before) {
		if p == 0 {
			continue
		}
		last = int32(id)
		if u -= p; u < 0 {
			break
		}
	}
	return last
}

func (w *World) compare(single, pairs, bonus [][]int) Report {
	var report Report
	at := make([]float64, w.Vocab) // the marginal distribution of the token before
	at[Root] = 1
	var bonusCells stat.Cells
	for i := range single {
		next := make([]float64, w.Vocab)
		joint := make([]float64, w.Vocab*w.Vocab)
		for before, reach := range at {
			for id, p := range w.P(i, int32(before)) {
				joint[before*w.Vocab+id] = reach * p
				next[id] += reach * p
			}
			bonusCells.Add(bonus[w.row(i, int32(before))], w.P(i, int32(before)))
		}
		var marginal, neighbours stat.Cells
		marginal.Add(single[i], next)
		report = append(report, Test{fmt.Sprintf("position %d", i), marginal.Z()})
		if i > 0 {
			neighbours.Add(pairs[i], joint)
			report = append(report, Test{fmt.Sprintf("positions %d and %d", i-1, i), neighbours.Z()})
		}
		at = next
	}
	return append(report, Test{"bonus", bonusCells.Z()})
}

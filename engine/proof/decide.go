package proof

import (
	"fmt"
	"math"

	"specula/engine/stat"
)

// Test is the result of one test.
type Test struct {
	Name string
	// P is the p-value: the probability of a deviation at least as large, if nothing is wrong.
	P float64
}

const (
	mostCells = 20          // cells of a χ² test, at most
	perCell   = 20          // fewest values in a cell, so that Pearson's statistic has nearly a χ² distribution
	fewest    = 5 * perCell // fewest values for a test
	// mostTests is an upper bound of the tests of one case: of singles in two ways, of pairs, and
	// of lengths.
	mostTests = 12*2*int(orders) + 8*int(paired) + 2
)

// Tests returns the results of all tests for which there are enough values.
func (j *Judge) Tests() (list []Test) {
	uniform := func(name string, x []float64) {
		if n := len(x); n >= fewest {
			list = append(list, Test{name + ", χ²", stat.Even(x, min(mostCells, n/perCell))}, Test{name + ", farthest", stat.Farthest(x)})
		}
	}
	for _, name := range j.names {
		for o := range orders {
			if s := j.singles[name]; s != nil {
				uniform(fmt.Sprintf("%s, %s", name, o), s[o])
			}
			if p := j.pairs[name]; p != nil && len(p[o]) >= 4*perCell {
				list = append(list, Test{fmt.Sprintf("%s, %s, jointly", name, o), independent(p[o])})
			}
		}
	}
	uniform("length of replies", j.lengths)
	return list
}

// independent tests whether the value of a pair is uniform whatever number came before it, and returns the
// p-value. It counts pairs in a grid whose rows are ranges of the number before. It compares the cells of
// each row only with each other, so the numbers before need not be uniform.
func independent(pairs []pair) (p float64) {
	side := min(8, int(math.Sqrt(float64(len(pairs))/perCell)))
	rows := make([][]int, side)
	for i := range rows {
		rows[i] = make([]int, side)
	}
	for _, x := range pairs {
		rows[stat.Cell(x.before, side)][stat.Cell(x.value, side)]++
	}
	chi2, freedom := 0.0, 0
	for _, row := range rows {
		n := 0
		for _, seen := range row {
			n += seen
		}
		if n >= side*perCell/4 {
			chi2 += stat.Pearson(row)
			freedom += side - 1
		}
	}
	return stat.Tail(chi2, freedom)
}

// Fault says what is wrong with the replies, or "": a reply contradicts itself, or a test shows that the
// replies do not have the target's distribution. falseAlarm is the largest probability with which one of the
// tests may find a fault in correct code. So each test gets a share of falseAlarm.
func (j *Judge) Fault(falseAlarm float64) string {
	if j.contradicted != "" {
		return j.contradicted
	}
	worst, _ := j.worst()
	if worst.P < falseAlarm/float64(mostTests) {
		return fmt.Sprintf("%s: p = %.1e", worst.Name, worst.P)
	}
	return ""
}

// notices returns the size of the smallest fault that a test of all tokens would notice with
// probability certainty. The fault is to accept a share of the tested draft tokens without a test;
// notices returns this share, or 1 if no such fault would be noticed. How the fault would look is
// computed from the values of the draft tokens. falseAlarm is as in Fault.
func (j *Judge) notices(falseAlarm float64) float64 {
	best := 1.0
	for o, x := range j.drafts {
		if len(x) < fewest {
			continue
		}
		cells := min(mostCells, len(x)/perCell)
		// Σ (h − 1/cells)²·cells over all cells, where h is the fraction of the values that lie in the cell,
		// minus what chance contributes to this sum.
		apart := (stat.Pearson(stat.Counts(x, cells)) - float64(cells-1)) / float64(len(x))
		if apart <= 0 {
			continue
		}
		tokens := float64(len(j.singles["all tokens"][o]))
		share := math.Sqrt(stat.Noticed(cells-1, stat.Limit(falseAlarm/float64(mostTests)), certainty) / (tokens * apart))
		best = min(best, share*tokens/float64(len(x)))
	}
	return best
}

// worst returns the test with the smallest p, and the number of tests.
func (j *Judge) worst() (worst Test, tests int) {
	list := j.Tests()
	worst.P = 1
	for _, t := range list {
		if t.P < worst.P {
			worst = t
		}
	}
	return worst, len(list)
}

// String summarises the replies and the tests.
func (j *Judge) String() string {
	worst, tests := j.worst()
	return fmt.Sprintf("%d replies of %d tokens, %d drafted, %d of %d tested were kept; the smallest p of %d tests is %.1e: %s",
		j.replies, j.tokens, j.drafted, j.accepted, j.tested, tests, worst.P, worst.Name)
}

// Package graph draws numbers with characters. [Plot] draws a line in braille, with two columns and
// four rows of dots per cell. [Bar] and [Columns] draw bars in eighths of a cell. Each also draws
// in ASCII, for terminals with nothing better.
//
// Invariant: functions are pure; they take values and return text without colour. All but Bar
// return lines of exactly the size asked for. A value of a plot stays in its column of dots until
// the plot is full; then all columns move left.
package graph

import (
	"math"
	"slices"
	"strings"
)

// Plot is a line over equidistant steps, the newest last.
type Plot struct {
	Values   []float64 // NaN is a gap
	Min, Max float64   // values at the bottom and top row; others are drawn at the edge
	Fill     bool      // fill the area under the line
	ASCII    bool
}

// Steps is how many values fit into w cells.
func Steps(w int) int { return 2 * max(w, 0) }

// tail returns where the newest values begin that fit into w cells; n is the number of all.
func tail(n, w int) (from int) { return max(0, n-Steps(w)) }

// Draw returns h lines of w cells.
func (p Plot) Draw(w, h int) []string {
	if w <= 0 || h <= 0 {
		return make([]string, max(h, 0))
	}
	values := p.Values[tail(len(p.Values), w):]
	if p.ASCII {
		return p.ascii(values, w, h)
	}
	return p.braille(values, w, h)
}

// Row is the line, of h, on which v is drawn: 0 at the top, -1 for a gap.
func (p Plot) Row(v float64, h int) int {
	level := p.level(v, h)
	if level < 0 {
		return -1
	}
	return h - 1 - level
}

// level places v on one of n rows: 0 at the bottom, -1 for a gap.
func (p Plot) level(v float64, n int) int {
	if math.IsNaN(v) {
		return -1
	}
	if p.Max <= p.Min {
		return 0
	}
	share := (v - p.Min) / (p.Max - p.Min)
	return int(math.Round(min(max(share, 0), 1) * float64(n-1)))
}

// span is the rows that a step covers: its own level, joined to the level before, so that the line
// has no holes.
func (p Plot) span(before, level int) (lo, hi int) {
	lo, hi = level, level
	switch {
	case p.Fill:
		lo = 0
	case before >= 0 && before < level:
		lo = before + 1
	case before > level:
		hi = before - 1
	}
	return lo, hi
}

func (p Plot) braille(values []float64, w, h int) []string {
	cells := make([][]rune, h)
	for y := range cells {
		cells[y] = make([]rune, w)
	}
	before := -1
	for i, v := range values {
		level := p.level(v, 4*h)
		if level >= 0 {
			lo, hi := p.span(before, level)
			for dot := lo; dot <= hi; dot++ {
				cells[h-1-dot/4][i/2] |= brailleDots[i%2][dot%4]
			}
		}
		before = level
	}
	lines := make([]string, h)
	for y, row := range cells {
		var line strings.Builder
		for _, dots := range row {
			if dots == 0 {
				line.WriteByte(' ')
			} else {
				line.WriteRune(brailleBase + dots)
			}
		}
		lines[y] = line.String()
	}
	return lines
}

const brailleBase = '\u2800'

// brailleDots[column][row from the bottom] is the bit of one dot (Unicode, Braille Patterns).
var brailleDots = [2][4]rune{
	{0x40, 0x04, 0x02, 0x01},
	{0x80, 0x20, 0x10, 0x08},
}

func (p Plot) ascii(values []float64, w, h int) []string {
	cells := make([][]byte, h)
	for y := range cells {
		cells[y] = []byte(strings.Repeat(" ", w))
	}
	before := -1
	for i, v := range values {
		level := p.level(v, h)
		// One mark per cell: the newer of its two steps.
		if level >= 0 && (i%2 == 1 || i == len(values)-1) {
			lo, hi := p.span(before, level)
			for row := lo; row <= hi; row++ {
				cells[h-1-row][i/2] = '|'
			}
			cells[h-1-level][i/2] = '*'
			before = level
		}
	}
	lines := make([]string, h)
	for y := range cells {
		lines[y] = string(cells[y])
	}
	return lines
}

// Tick is a sign, one cell wide, for the steps of a Plot for which On is true.
type Tick struct {
	Sign string
	On   func(step int) bool
}

// Ticks returns a line of w cells with ticks under the steps of a Plot of n values. Two steps
// share a cell. If they have several ticks, the cell shows the one that is first in the list.
func Ticks(n, w int, ticks ...Tick) string {
	cells := make([]string, max(w, 0))
	for i := range cells {
		cells[i] = " "
	}
	from := tail(n, w)
	for _, tick := range slices.Backward(ticks) {
		for i := from; i < n; i++ {
			if tick.On(i) {
				cells[(i-from)/2] = tick.Sign
			}
		}
	}
	return strings.Join(cells, "")
}

// NiceMax returns the next round number from v on (1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten),
// so that an axis seldom changes. It returns 1 if v is infinite or not above 0.
func NiceMax(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10} {
		if v <= step*unit*(1+1e-9) {
			return step * unit
		}
	}
	return 10 * unit
}

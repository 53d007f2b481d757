package film

import (
	"image/color"
	"strings"
	"unicode/utf8"
)

// The size of a cell and of the margin, in pixels of a picture at scale 1. The font's characters are 0.602
// times as wide as the font size.
const (
	cellW, cellH = 9, 18
	fontSize     = 15
	baseline     = 14 // below the top of a cell
	margin       = 12
)

// brush paints a picture. Lengths are in pixels at scale 1.
type brush interface {
	fill(x, y, w, h float64, c color.RGBA)
	// text paints a text from the left edge x on, on the baseline y. cells is its width, in cells.
	text(x, y float64, cells int, text string, l look)
}

// paintRow paints a row of cells. The top left corner of the first cell is (x, top). back is the picture's
// background, which is not painted again.
func paintRow(b brush, row []cell, x, top float64, back color.RGBA) {
	for i := 0; i < len(row); {
		// A run of cells with one look.
		end, cells := i, 0
		for ; end < len(row) && row[end].look == row[i].look; end++ {
			cells += row[end].width
		}
		paintRun(b, row[i:end], cells, x, top, back)
		x += float64(cells * cellW)
		i = end
	}
}

func paintRun(b brush, run []cell, cells int, x, top float64, back color.RGBA) {
	l, w := run[0].look, float64(cells*cellW)
	if l.back != back {
		b.fill(x, top, w, cellH, l.back)
	}
	at := x
	var word strings.Builder
	wordAt, wordCells := x, 0
	flush := func() {
		if word.Len() > 0 {
			b.text(wordAt, top+baseline, wordCells, word.String(), l)
		}
		word.Reset()
		wordCells = 0
	}
	for _, c := range run {
		shape := shapeOf(c.text)
		switch {
		case shape != nil:
			flush()
			for _, s := range shape {
				fore := l.fore
				fore.A = s.alpha
				b.fill(at+s.x*cellW, top+s.y*cellH, s.w*cellW, s.h*cellH, fore)
			}
		case c.text == " ":
			flush()
		case c.width != 1 || utf8.RuneCountInString(c.text) != 1:
			flush()
			b.text(at, top+baseline, c.width, c.text, l)
		default:
			if word.Len() == 0 {
				wordAt = at
			}
			word.WriteString(c.text)
			wordCells += c.width
		}
		at += float64(c.width * cellW)
	}
	flush()
	if l.underlined {
		b.fill(x, top+baseline+2, w, 1, l.fore)
	}
	if l.struck {
		b.fill(x, top+baseline-5, w, 1, l.fore)
	}
}

// box is a part of a cell; 1 is the cell's whole width or height.
type box struct {
	x, y, w, h float64
	alpha      uint8
}

// shapeOf returns the boxes that a character of a graph or a frame consists of, so that neighbours
// join without a gap in every font; nil for a character that the font draws.
func shapeOf(text string) []box {
	r := []rune(text)
	if len(r) != 1 {
		return nil
	}
	switch c := r[0]; {
	case c >= 0x2580 && c <= 0x259f:
		return blockShape(c)
	case c >= 0x2800 && c <= 0x28ff:
		return dots(c - 0x2800)
	default:
		return lines(arms[c])
	}
}

// blockShape returns the boxes of a block element.
func blockShape(c rune) []box {
	eighths := func(n rune) float64 { return float64(n) / 8 }
	switch {
	case c == 0x2580:
		return []box{{0, 0, 1, 0.5, 255}}
	case c <= 0x2588: // the lower eighths of a cell
		h := eighths(c - 0x2580)
		return []box{{0, 1 - h, 1, h, 255}}
	case c <= 0x258f: // the left eighths of a cell
		return []box{{0, 0, eighths(0x2590 - c), 1, 255}}
	case c == 0x2590:
		return []box{{0.5, 0, 0.5, 1, 255}}
	case c <= 0x2593:
		return []box{{0, 0, 1, 1, uint8(64 * (c - 0x2590))}}
	case c == 0x2594:
		return []box{{0, 0, 1, eighths(1), 255}}
	case c == 0x2595:
		return []box{{1 - eighths(1), 0, eighths(1), 1, 255}}
	}
	// Quadrants as bits, from the lowest: upper left, upper right, lower left, lower right.
	quadrants := [...]uint8{4, 8, 1, 13, 9, 7, 11, 2, 6, 14}[c-0x2596]
	var out []box
	for i := range 4 {
		if quadrants>>i&1 != 0 {
			out = append(out, box{0.5 * float64(i%2), 0.5 * float64(i/2), 0.5, 0.5, 255})
		}
	}
	return out
}

// dots returns the boxes of a Braille pattern.
func dots(bits rune) []box {
	out := []box{}
	for i, at := range [...][2]float64{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if bits>>i&1 != 0 {
			out = append(out, box{(0.5 + 4.5*at[0]) / cellW, (0.5 + 4.5*at[1]) / cellH, 3.5 / cellW, 3.5 / cellH, 255})
		}
	}
	return out
}

// arms are the lines that lead from the centre of a cell: 1 left, 2 right, 4 up, 8 down.
var arms = map[rune]uint8{
	'─': 3, '│': 12, '┌': 10, '┐': 9, '└': 6, '┘': 5, '├': 14, '┤': 13, '┬': 11, '┴': 7, '┼': 15,
}

func lines(arms uint8) []box {
	const w, h = 1.0 / cellW, 1.0 / cellH // one pixel
	const x, y = 4 * w, 9 * h
	var out []box
	for i, arm := range []box{{0, y, x + w, h, 255}, {x, y, 1 - x, h, 255}, {x, 0, w, y + h, 255}, {x, y, w, 1 - y, 255}} {
		if arms>>i&1 != 0 {
			out = append(out, arm)
		}
	}
	return out
}

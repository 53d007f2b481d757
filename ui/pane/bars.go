package pane

import (
	"fmt"
	"math"

	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/theme"
)

// bars is a chart with a bar for each draft length or position in the draft.
type bars struct {
	shares []float64 // height of each bar, as a share of the chart's height
	styles []theme.Style
	level  float64 // a line at this share of the height; 0 for none
	pitch  int     // width of a bar with the gap after it, in cells
}

// The least and the largest width of a bar with the gap after it, in cells.
const leastPitch, mostPitch = 4, 9

// pitchFor returns the width that each of n bars can have, with the gap after it, and how many of the bars
// fit. The width is never below least.
func (c *column) pitchFor(n, least int) (pitch, fit int) {
	room := c.w - axis - 1
	pitch = min(max(room/max(n, 1), least), mostPitch)
	return pitch, min(n, max(room/pitch, 0))
}

// draw returns the chart in rows lines.
func (b *bars) draw(c *column, rows int) []string {
	level := c.levelAt(b.level, rows)
	lines := make([]string, 0, rows)
	drawn := make([][]string, len(b.shares))
	for i, share := range b.shares {
		drawn[i] = graph.Columns([]float64{share}, 1, 0, rows, !c.th.Glyph.Unicode)
	}
	for y := range rows {
		out := paint.NewLine(c.th, c.w).Pad(axis)
		for i := range b.shares {
			w := b.pitch - 2
			out.Put(c.th.Label, level.sign(y, 1))
			if sign := drawn[i][y]; sign == " " {
				out.Put(c.th.Label, level.sign(y, w))
			} else {
				out.Put(b.styles[i], repeat(sign, w))
			}
			out.Put(c.th.Label, level.sign(y, 1))
		}
		lines = append(lines, out.String())
	}
	return lines
}

// level is a horizontal line in a chart.
type level struct {
	row  int // the row of the line, counted from the top of the chart; -1 for none
	mark string
}

// levelAt returns the line at a share of the height of a chart. The chart has rows lines of text.
func (c *column) levelAt(share float64, rows int) level {
	if !(share > 0) || share > 1 {
		return level{row: -1}
	}
	whole, part := math.Modf(share * float64(rows))
	mark := c.th.Glyph.Dash
	switch {
	case part < 0.25:
		mark = c.th.Glyph.Bottom
	case part > 0.75:
		mark = c.th.Glyph.Top
	}
	if int(whole) == rows { // at the top
		whole, mark = whole-1, c.th.Glyph.Top
	}
	return level{row: rows - 1 - int(whole), mark: mark}
}

// sign returns what stands in n empty cells of a row: a piece of the line, or spaces in other rows.
func (l level) sign(row, n int) string {
	if row != l.row {
		return paint.Spaces(n)
	}
	return repeat(l.mark, n)
}

// label is a text under a bar.
type label struct {
	text  string
	style theme.Style
}

// under draws a text under each bar, with name at the left.
func (b *bars) under(c *column, name string, texts []label) string {
	out := paint.NewLine(c.th, c.w).Put(c.th.Label, fmt.Sprintf("%*s", axis-1, name)).Pad(axis)
	for i, t := range texts {
		left := max(0, b.pitch-paint.Width(t.text)) / 2
		out.Pad(axis+i*b.pitch+left).Put(t.style, t.text)
	}
	return out.String()
}

package pane

import (
	"slices"

	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// recentRounds is the number of rounds over which recent numbers are averaged. With more rounds, a change
// of γ or temperature would show late; with fewer, the numbers would jump.
const recentRounds = 16

// sideSection is one group of the side column.
type sideSection struct {
	rank int  // sections with a high rank are left out first
	rows int  // at first the least number of rows; spread raises it to the number that the section gets
	want int  // number of rows to reach before any section grows
	grow int  // the most rows to add if rows are left over
	gap  bool // needs a blank row below
	draw func(rows int) []string

	below int // blank rows below, if there is room
}

// SideOptions is what the user chose to see in the side column.
type SideOptions struct {
	Tradeoff bool // the trade-off of draft lengths comes first
	Few      bool // only what an audience needs
}

// Side draws the column of pictures and numbers. If h rows are too few, the least important sections are
// left out.
func Side(s *state.State, th *theme.Theme, w, h int, o SideOptions) []string {
	c := column{s: s, th: th, w: w}
	sections := c.sections(o)
	if w >= minTwoColumns {
		sections = c.wideSections(o)
	}
	sections = choose(sections, h)
	spread(sections, h)
	var lines []string
	for _, section := range sections {
		lines = append(lines, paint.Block(section.draw(section.rows), w, section.rows+section.below)...)
	}
	return paint.Block(lines, w, h)
}

// sections returns the sections of a narrow column.
func (c *column) sections(o SideOptions) []sideSection {
	tradeoff := sideSection{rank: 1, rows: 8, gap: true, grow: 4, draw: c.tradeoff}
	if o.Tradeoff {
		tradeoff.rank, tradeoff.rows = -1, 10
	}
	if o.Few {
		tradeoff.gap, tradeoff.grow = false, 8
		return []sideSection{{rank: 0, rows: 7, grow: 8, draw: c.rounds}, tradeoff}
	}
	list := []sideSection{
		{rank: 0, rows: 7, grow: 4, draw: c.rounds}, // its row of changes serves as the gap below
		{rank: 2, rows: 4, gap: true, grow: 4, draw: c.times},
		tradeoff,
		{rank: 4, rows: 5, gap: true, grow: 4, draw: c.places},
	}
	return append(list,
		sideSection{rank: 3, rows: 3, gap: true, draw: c.draftLength},
		sideSection{rank: 5, rows: 2, gap: true, draw: c.figures},
		sideSection{rank: 6, rows: 3, gap: true, draw: c.settings},
		sideSection{rank: 7, rows: 4, want: len(c.models(7)), draw: c.models})
}

// minTwoColumns is the width in cells from which some sections of the side column are side by side.
const minTwoColumns = 84

// wideSections returns the sections of a wide column: rounds and times over the whole width, the others
// beside each other.
func (c *column) wideSections(o SideOptions) []sideSection {
	left, right := *c, *c
	left.w, right.w = c.w/2-1, c.w-c.w/2
	beside := func(a, b func(rows int) []string) func(rows int) []string {
		return func(rows int) []string {
			return join(paint.Block(a(rows), left.w, rows), paint.Block(b(rows), right.w, rows))
		}
	}
	if o.Few {
		return []sideSection{{rank: 0, rows: 7, grow: 9, draw: c.rounds}, {rank: 1, rows: 8, grow: 9, draw: c.tradeoff}}
	}
	list := []sideSection{
		{rank: 0, rows: 7, grow: 5, draw: c.rounds},
		{rank: 2, rows: 4, gap: true, grow: 5, draw: c.times},
		{rank: 1, rows: 8, gap: true, grow: 6, draw: beside(left.tradeoff, right.places)},
	}
	why := func(rows int) []string {
		return append(append(left.draftLength(rows-3), left.line().String()), left.figures(2)...)
	}
	what := func(rows int) []string { return append(right.settings(3), right.models(rows-3)...) }
	return append(list, sideSection{rank: 3, rows: 6, want: 3 + len(right.models(7)), draw: beside(why, what)})
}

// join puts lines of equal number beside each other, with a gap of one cell.
func join(left, right []string) []string {
	lines := make([]string, len(left))
	for i := range lines {
		lines[i] = left[i] + " " + right[i]
	}
	return lines
}

// choose leaves out sections, the highest rank first, until the rest fits into h rows. It never leaves out
// a section before one of higher rank, so that the choice changes little with the height.
func choose(sections []sideSection, h int) []sideSection {
	for total(sections)+gaps(sections) > h && len(sections) > 1 {
		worst := 0
		for i := range sections {
			if sections[i].rank > sections[worst].rank {
				worst = i
			}
		}
		sections = slices.Delete(sections, worst, worst+1)
	}
	return sections
}

// spread distributes spare rows: to gaps, then to sections below their want, then to sections that can
// grow, in turn.
func spread(sections []sideSection, h int) {
	left := h - total(sections)
	for i := range sections {
		if left > 0 && sections[i].gap && i < len(sections)-1 {
			sections[i].below = 1
			left--
		}
	}
	for i := range sections {
		more := min(left, max(0, sections[i].want-sections[i].rows))
		sections[i].rows += more
		left -= more
	}
	for given := true; left > 0 && given; {
		given = false
		for i := range sections {
			if left > 0 && sections[i].grow > 0 {
				sections[i].rows++
				sections[i].grow--
				left--
				given = true
			}
		}
	}
}

func total(sections []sideSection) int {
	n := 0
	for _, s := range sections {
		n += s.rows
	}
	return n
}

// gaps returns the number of sections with a gap, without the last section.
func gaps(sections []sideSection) int {
	n := 0
	for _, s := range sections[:len(sections)-1] {
		if s.gap {
			n++
		}
	}
	return n
}

// column draws the sections. Each section returns at most the rows that it was given.
type column struct {
	s  *state.State
	th *theme.Theme
	w  int
	// looks says that the picture of rounds explains the looks of tokens in the chat, because no head does.
	looks bool
}

func (c *column) line() *paint.Line { return paint.NewLine(c.th, c.w).Put("", " ") }

// heading draws the name of a section and a note, with value at the right if there is one.
func (c *column) heading(name, note, value string) string {
	out := c.line().Put(c.th.Title, name).Put(c.th.Label, "  "+note)
	if value != "" {
		out.Right(c.th.Strong, value+" ")
	}
	return out.String()
}

// maxPairWidth is the largest width of a pair in cells: in a wide pane, a value stays near its name.
const maxPairWidth = 64

// pair draws two values side by side. In each half, the name stands at the left, the value at the right.
func (c *column) pair(name1, value1, name2, value2 string) string {
	half, end := (c.w-1)/2, c.w-1
	if c.w > maxPairWidth {
		half, end = maxPairWidth/2, maxPairWidth-1
	}
	out := c.line()
	c.cell(out, 1, half-1, name1, value1)
	c.cell(out, half+2, end, name2, value2)
	return out.String()
}

func (c *column) cell(out *paint.Line, from, to int, name, value string) {
	out.Pad(from)
	valueWidth := paint.Width(value)
	room := max(to-from-valueWidth-1, 0)
	if paint.Width(name) > room {
		name = paint.Fit(c.th, "", name, room)
	}
	out.Put(c.th.Label, name).Pad(to - valueWidth)
	out.Put(c.th.Strong, paint.Fit(c.th, "", value, min(valueWidth, to-from)))
}

package pane

import (
	"fmt"
	"strings"

	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// The picture of rounds has a column for each round. The graph of times, which is drawn below it, has the
// same columns.

// axis is the width of the labels left of a picture, with the gap after them, in cells.
const axis = 5

// pitches are the possible widths of a column of the picture, including the gap before it, in cells.
var pitches = []int{6, 4, 3, 2}

// columns says which rounds are shown, and how wide each column is.
type columns struct {
	rounds []state.Sample // the oldest first
	pitch  int
}

// columnsIn returns as many of the newest rounds as fit into w cells. It takes the widest columns with which
// all rounds fit, or else the narrowest ones.
func columnsIn(s *state.State, w int) columns {
	n := len(s.History)
	pitch := pitches[len(pitches)-1]
	for _, p := range pitches {
		if n*p <= w {
			pitch = p
			break
		}
	}
	return columns{rounds: s.History[max(0, n-max(w, 0)/pitch):], pitch: pitch}
}

// stack returns the parts of a round's column from the bottom up. A token is unit cells high.
func stack(h *state.Sample, unit float64) []graph.Part {
	if h.Drafted == 0 {
		return []graph.Part{{Kind: int(theme.Own), Size: unit}}
	}
	refused := 0
	if h.Tested > h.Accepted {
		refused = 1
	}
	unused := max(0, h.Drafted-max(h.Accepted, 0)-refused)
	return []graph.Part{
		{Kind: int(theme.Kept), Size: unit * float64(h.Accepted)}, {Kind: int(theme.Refused), Size: unit * float64(refused)},
		{Kind: int(theme.Unused), Size: unit * float64(unused)}, {Kind: int(capShade(h)), Size: unit * float64(capSize(h))},
	}
}

// capShade is the shade of the target's own token on top of a column: theme.Instead after a refusal,
// theme.Free if the whole draft was kept.
func capShade(h *state.Sample) theme.Shade {
	if h.Tested > h.Accepted {
		return theme.Instead
	}
	return theme.Free
}

// capSize is 1 if the target added a token of its own to a round with a draft, and 0 if the reply ended
// within the draft.
func capSize(h *state.Sample) int {
	if h.Drafted > 0 && h.Tokens > h.Accepted {
		return 1
	}
	return 0
}

// rounds draws the picture of rounds in at most rows rows, including the heading. With 7 rows or more, the
// last row names settings that changed.
func (c *column) rounds(rows int) []string {
	changes := rows >= 7
	lines, signs := c.roundsHeading(min(2, max(1, rows-5)))
	if rows -= len(lines); rows <= 0 {
		return lines
	}
	if len(c.s.History) == 0 {
		return append(lines, c.note("Each round will stand here as a column: how many tokens were guessed, and what became of each.", rows)...)
	}
	if changes {
		rows--
	}
	cols := columnsIn(c.s, c.w-axis)
	perCell := tokensPerCell(cols.rounds, rows)
	drawn := make([][]graph.Cell, len(cols.rounds))
	for i := range cols.rounds {
		drawn[i] = graph.Stack(stack(&cols.rounds[i], 1/float64(perCell)), rows)
	}
	for y := range rows {
		label := ""
		if up := rows - y; up%2 == 0 || up == rows && rows < 4 {
			label = fmt.Sprint(up * perCell)
		}
		out := paint.NewLine(c.th, c.w).Put(c.th.Label, fmt.Sprintf("%*s", axis-1, label)).Pad(axis - 1)
		for i := range cols.rounds {
			c.between(out, cols.rounds, i)
			c.roundCell(out, &cols.rounds[i], drawn[i], y, rows, perCell, cols.pitch-1)
		}
		lines = append(lines, out.String())
	}
	if changes {
		lines = append(lines, c.changes(cols, signs))
	}
	return lines
}

// note draws text in place of a picture that has nothing to show yet.
func (c *column) note(text string, rows int) []string {
	var lines []string
	for _, line := range paint.Wrap(text, c.w-axis-1, rows) {
		lines = append(lines, paint.NewLine(c.th, c.w).Pad(axis).Put(c.th.Label, line).String())
	}
	return lines
}

// tokensPerCell returns how many tokens one cell stands for: the least of 1, 2, 4 and 8 with which all
// columns fit into rows, or 8 if none does.
func tokensPerCell(rounds []state.Sample, rows int) int {
	highest := 0
	for i := range rounds {
		highest = max(highest, rounds[i].Drafted+capSize(&rounds[i]), rounds[i].Gamma)
	}
	per := 1
	for per < 8 && per*rows < highest {
		per *= 2
	}
	return per
}

// between draws the gap before a column: a dashed line where a reply begins.
func (c *column) between(out *paint.Line, rounds []state.Sample, i int) {
	if i > 0 && rounds[i].Reply != rounds[i-1].Reply {
		out.Put(c.th.Rule, c.th.Glyph.Dashed)
		return
	}
	out.Put("", " ")
}

// roundCell draws line y of a column, w cells wide. Above the column stands the sign of a probe or, if the
// draft is shorter than γ, a line at the height of γ.
func (c *column) roundCell(out *paint.Line, h *state.Sample, cells []graph.Cell, y, rows, perCell, w int) {
	if cells[y].Lower != 0 {
		c.shade(out, cells[y], w)
		return
	}
	above := y == rows-1 || cells[y+1].Lower != 0
	allowed := rows - 1 - (h.Gamma-1)/perCell // the line that γ tokens would reach
	switch {
	case above && h.Probe:
		out.Put(c.th.Warning, centred(c.th.Glyph.Probe, w))
	case h.Gamma > h.Drafted && y == allowed:
		out.Put(c.th.Label, repeat(c.th.Glyph.Dash, w))
	default:
		out.Put("", paint.Spaces(w))
	}
}

// shade draws a cell of a stack, w cells wide.
func (c *column) shade(out *paint.Line, cell graph.Cell, w int) {
	lower, upper := theme.Shade(cell.Lower), theme.Shade(cell.Upper)
	sign, style := c.th.Shade(lower)
	if cell.Eighths < 8 && c.th.Glyph.Unicode {
		mixed, can := c.th.Between(lower, upper)
		switch {
		case can:
			sign, style = graph.Rise(cell.Eighths), mixed
		case upper == theme.Empty && (sign == "█" || (lower == theme.Free || lower == theme.Instead) && style != ""):
			sign = graph.Rise(cell.Eighths)
		case upper != theme.Empty && (cell.Eighths < 4 || upper == theme.Refused):
			sign, style = c.th.Shade(upper)
		}
	}
	out.Put(style, repeat(sign, w))
}

// centred puts a sign into the middle of w cells.
func centred(sign string, w int) string {
	left := max(0, (w-1)/2)
	return paint.Spaces(left) + sign + paint.Spaces(w-1-left)
}

// changes draws the line below the columns: a mark under each round before which a setting changed, and the
// name of the latest change if there is room. At the right stands signs, the text that explains the signs
// above the columns; it is empty if the heading explains them.
func (c *column) changes(cols columns, signs string) string {
	out := paint.NewLine(c.th, c.w)
	latest := ""
	for i := range cols.rounds {
		if marks := cols.rounds[i].Marks; len(marks) > 0 {
			out.Pad(axis+i*cols.pitch+(cols.pitch-2)/2).Put(c.th.Mark, c.th.Glyph.Mark)
			var changed []string
			for _, mark := range marks {
				name := mark.Setting
				if name == "gamma" {
					name = c.th.Glyph.Gamma // as everywhere on the screen
				}
				changed = append(changed, name+" "+mark.Value)
			}
			latest = " " + strings.Join(changed, ", ")
		}
	}
	if paint.Width(latest) < out.Left() {
		out.Put(c.th.Label, latest)
	}
	if signs != "" { // there was no room in the heading
		out.Right(c.th.Label, signs+" ")
	}
	return out.String()
}

// Picture draws the picture of rounds for windows without a side column.
func Picture(s *state.State, th *theme.Theme, w, h int) []string {
	c := column{s: s, th: th, w: w, looks: true}
	return paint.Block(c.rounds(h), w, h)
}

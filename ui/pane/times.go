package pane

import (
	"fmt"
	"slices"

	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// times draws the time of each round under its column in the picture of rounds: the target's pass,
// drafting, the rest. A line shows the time of a round without a draft. A column that is too high ends
// with a mark.
func (c *column) times(rows int) []string {
	lines := []string{c.timesHeading()}
	if rows--; len(c.s.History) == 0 {
		return append(lines, c.note("Below each column: the time of its round.", rows)...)
	}
	cols := columnsIn(c.s, c.w-axis)
	plainMS := c.plainMS()
	highest := highestMS(cols.rounds, plainMS)
	level := c.levelAt(plainMS/highest, rows)
	drawn := make([][]graph.Cell, len(cols.rounds))
	for i := range cols.rounds {
		drawn[i] = graph.Stack(timeParts(&cols.rounds[i], float64(rows)/highest), rows)
	}
	for y := range rows {
		label := ""
		if y == 0 {
			label = scaleTop(highest)
		}
		out := paint.NewLine(c.th, c.w).Put(c.th.Label, fmt.Sprintf("%*s", axis-1, label)).Pad(axis - 1)
		for i := range cols.rounds {
			out.Put(c.th.Label, level.sign(y, 1))
			switch {
			case drawn[i][y].Lower == 0:
				out.Put(c.th.Label, level.sign(y, cols.pitch-1))
			case y == 0 && roundMS(&cols.rounds[i]) > highest:
				out.Put(c.th.Warning, repeat(c.th.Glyph.Mark, cols.pitch-1))
			default:
				c.shade(out, drawn[i][y], cols.pitch-1)
			}
		}
		lines = append(lines, out.String())
	}
	return lines
}

func (c *column) timesHeading() string {
	out := c.line().Put(c.th.Title, "ms a round").Put("", " ")
	for _, part := range []struct {
		shade theme.Shade
		name  string
	}{{theme.Drafting, "draft"}, {theme.Checking, "check"}, {theme.Other, "rest"}} {
		sign, style := c.th.Shade(part.shade)
		out.Put("", " ").Put(style, sign).Put(c.th.Label, " "+part.name)
	}
	if ms := c.plainMS(); ms > 0 {
		if words := "  " + c.th.Glyph.Dash + " without draft " + milliseconds(ms); paint.Width(words) < out.Left() {
			out.Put(c.th.Label, words)
		} else if words := "  " + c.th.Glyph.Dash + " no draft"; paint.Width(words) < out.Left() {
			out.Put(c.th.Label, words)
		}
	}
	if paint.Width(c.th.Glyph.Mark)+len("   higher") < out.Left() {
		out.Put("", "  ").Put(c.th.Warning, c.th.Glyph.Mark).Put(c.th.Label, " higher")
	}
	return out.String()
}

// plainMS returns how long a round without a draft takes, from the rate in the head line, so that both
// agree. If the head has no rate, it uses the newest plain rounds; without any, it returns 0. For a
// watched server it returns 0, too: there the first round drafts nothing, but its time is that of the
// prompt.
func (c *column) plainMS() float64 {
	head := headOf(c.s, c.th)
	plain := head.plain
	if !(plain > 0) && head.noPlain == "" {
		plain = c.s.Rate(false).PerSecond()
	}
	if !(plain > 0) {
		return 0
	}
	return 1000 / plain
}

// timeParts returns the parts of a round's time from the bottom up; cells is the height of a millisecond.
// The proposer's reading is left out, as in the speed-up.
func timeParts(h *state.Sample, cells float64) []graph.Part {
	return []graph.Part{
		{Kind: int(theme.Checking), Size: cells * h.VerifyMS}, {Kind: int(theme.Drafting), Size: cells * h.DraftMS},
		{Kind: int(theme.Other), Size: cells * (roundMS(h) - h.DraftMS - h.VerifyMS)},
	}
}

// roundMS is the time of a round without the proposer's reading.
func roundMS(h *state.Sample) float64 { return h.MS - h.ReadMS }

// mostMedians limits the scale to so many times the median: now and then a machine stalls, and one slow
// round must not make all other columns flat.
const mostMedians = 2.5

// highestMS returns the top of the scale of times.
func highestMS(rounds []state.Sample, plainMS float64) float64 {
	all := make([]float64, 0, len(rounds))
	for i := range rounds {
		all = append(all, roundMS(&rounds[i]))
	}
	slices.Sort(all)
	return graph.NiceMax(max(min(all[len(all)-1], mostMedians*all[len(all)/2]), plainMS))
}

// scaleTop formats milliseconds of a scale in at most axis-1 cells; "" if they do not fit.
func scaleTop(ms float64) string {
	if text := fmt.Sprintf("%.3g", ms); len(text) < axis {
		return text
	}
	return ""
}

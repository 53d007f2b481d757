package pane

import (
	"fmt"
	"math"
	"strings"

	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// axis is the width of the labels left of a graph. All graphs have the same, so that their time axes
// line up.
const axis = 6

// plotWidth returns the width of the graphs in cells.
func (c *column) plotWidth() int { return max(c.w-axis-1, 0) }

// series returns one value for each round that the graphs show, the oldest first.
func (c *column) series(value func(i int) float64) []float64 {
	n := len(c.s.History)
	values := make([]float64, 0, graph.Steps(c.plotWidth()))
	for i := max(0, n-graph.Steps(c.plotWidth())); i < n; i++ {
		values = append(values, value(i))
	}
	return values
}

// plot draws a graph with labels for its top and bottom.
func (c *column) plot(p graph.Plot, style theme.Style, top, bottom string, h int) []string {
	return c.plotWithLevel(p, style, top, bottom, h, -1)
}

// plotWithLevel is plot with a mark at the right of line level; -1 for none.
func (c *column) plotWithLevel(p graph.Plot, style theme.Style, top, bottom string, h, level int) []string {
	p.ASCII = !c.th.Glyph.Unicode
	lines := p.Draw(c.plotWidth(), h)
	for y := range lines {
		label := ""
		switch y {
		case 0:
			label = top
		case h - 1:
			label = bottom
		}
		out := paint.NewLine(c.th, c.w).Put(c.th.Label, fmt.Sprintf("%*s", axis-1, label)).Pad(axis)
		out.Put(style, lines[y])
		if y == level {
			out.Put(c.th.Second, c.th.Glyph.Level)
		}
		lines[y] = out.String()
	}
	return lines
}

// draftGraph draws the number of tokens that each round drafted. It may be lower than γ.
func (c *column) draftGraph(rows int) []string {
	highest := c.s.Settings.GammaMax
	for i := range c.s.History {
		highest = max(highest, c.s.History[i].Drafted)
	}
	highest = max(highest, c.s.Settings.Gamma, 1)
	values := c.series(func(i int) float64 { return drafted(&c.s.History[i]) })
	note, best := fmt.Sprintf("in the last %d rounds", graph.Steps(c.plotWidth())), c.bestFixed()
	if best != "" {
		note = ""
	}
	plot := graph.Plot{Values: values, Max: float64(highest), Fill: true}
	level := -1 // the line of the best fixed γ
	if best != "" {
		level = plot.Row(float64(c.s.Last.Round.BestFixedGamma), rows-2)
	}
	lines := []string{c.heading("drafted", note, best)}
	lines = append(lines, c.plotWithLevel(plot, c.th.Graph, fmt.Sprint(highest), "0", rows-2, level)...)
	return append(lines, c.ticks())
}

// bestFixed says which fixed γ would have been fastest in this reply, and what it would have saved; ""
// if that is unknown.
func (c *column) bestFixed() string {
	l := c.s.Last
	if l == nil || !l.Round.Hindsight {
		return ""
	}
	saved, words := l.Round.Regret, "save"
	if saved < 0 {
		saved, words = -saved, "cost" // at 40 columns nothing longer fits
	}
	return fmt.Sprintf("always %s %d would %s %.0f%%", c.th.Glyph.Gamma, l.Round.BestFixedGamma, words, 100*saved)
}

// drafted returns the value that draftGraph shows for a round. A probe without a draft is a gap (NaN),
// because it says nothing about γ.
func drafted(h *state.Sample) float64 {
	if h.Probe && h.Drafted == 0 {
		return math.NaN()
	}
	return float64(h.Drafted)
}

// ticks draws the line between the graphs. It marks probes and changes of settings, and names the
// latest change if there is room.
func (c *column) ticks() string {
	history := c.s.History
	latest := -1
	changed := func(i int) bool {
		on := len(history[i].Marks) > 0
		if on {
			latest = max(latest, i)
		}
		return on
	}
	out := paint.NewLine(c.th, c.w).Pad(axis)
	ticks := graph.Ticks(len(history), c.plotWidth(), graph.Tick{Sign: c.th.Glyph.Mark, On: changed},
		graph.Tick{Sign: c.th.Glyph.Probe, On: func(i int) bool { return history[i].Probe }})
	out.Put(c.th.Second, strings.TrimRight(ticks, " "))
	if latest >= 0 {
		if words := " " + strings.Join(c.s.History[latest].Marks, ", "); paint.Width(words) < out.Left() {
			out.Put(c.th.Label, words)
		}
	}
	return out.String()
}

func (c *column) acceptanceGraph(rows int) []string {
	values := c.series(func(i int) float64 {
		w := c.s.RecentAt(i, recentRounds)
		if share, ok := w.Acceptance(); ok {
			return share
		}
		return math.NaN()
	})
	recent := c.s.Recent(recentRounds)
	share, ok := recent.Acceptance()
	lines := []string{c.heading("acceptance", "kept of tested", percent(c.th, share, ok))}
	return append(lines, c.plot(graph.Plot{Values: values, Max: 1, Fill: true}, c.th.Graph, "100%", "0%", rows-1)...)
}

func (c *column) speedGraph(rows int) []string {
	highest := 0.0
	values := c.series(func(i int) float64 {
		w := c.s.RecentAt(i, recentRounds)
		speed, ok := w.TokensPerSecond()
		if !ok {
			return math.NaN()
		}
		highest = max(highest, speed)
		return speed
	})
	recent := c.s.Recent(recentRounds)
	speed, ok := recent.TokensPerSecond()
	top := graph.NiceMax(highest)
	lines := []string{c.heading("tokens/s", "in engine time", figure(c.th, speed, ok, 1))}
	return append(lines, c.plot(graph.Plot{Values: values, Max: top, Fill: true}, c.th.Graph, count(int64(math.Ceil(top))), "0", rows-1)...)
}

// fewTests is how often a position must have been tested before its share is no longer pale.
const fewTests = 8

// positions draws the acceptance of this reply by draft position: a bar and a share for each. A share from
// few tests is paler.
func (c *column) positions(rows int) []string {
	t := &c.s.Reply.Totals
	const cell, gap = 4, 1
	fit := max((c.w-axis-1)/(cell+gap), 0)
	n := min(len(t.PositionTested), len(t.PositionKept), fit)
	lines := []string{c.heading("kept by position", "if reached", "")}
	shares := make([]float64, n)
	share, place := paint.NewLine(c.th, c.w).Pad(axis), paint.NewLine(c.th, c.w).Put(c.th.Label, fmt.Sprintf("%*s ", axis-1, "pos"))
	for i := range n {
		shares[i] = float64(t.PositionKept[i]) / float64(max(t.PositionTested[i], 1))
		style := c.th.Strong
		if t.PositionTested[i] < fewTests {
			style = c.th.Label
		}
		share.Put(style, fmt.Sprintf("%3.0f%%", 100*shares[i])).Put("", " ")
		place.Put(c.th.Label, fmt.Sprintf("%3d", i+1)).Put("", "  ")
	}
	if n == 0 {
		share.Put(c.th.Label, c.th.Glyph.None)
	}
	for _, bar := range graph.Columns(shares, cell-1, gap+1, rows-3, !c.th.Glyph.Unicode) {
		lines = append(lines, paint.NewLine(c.th, c.w).Pad(axis+1).Put(c.th.Graph, bar).String())
	}
	return append(lines, share.String(), place.String())
}

// draftTrail draws the draft lengths of the newest rounds as small bars, for the strip. A probe without
// a draft has the sign for probes.
func draftTrail(s *state.State, th *theme.Theme, w int) string {
	highest := float64(max(s.Settings.GammaMax, 1))
	var trail strings.Builder
	for i := max(0, len(s.History)-w); i < len(s.History); i++ {
		n := drafted(&s.History[i])
		if math.IsNaN(n) {
			trail.WriteString(th.Glyph.Probe)
			continue
		}
		trail.WriteString(graph.Columns([]float64{n / highest}, 1, 0, 1, !th.Glyph.Unicode)[0])
	}
	return trail.String()
}

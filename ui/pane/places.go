package pane

import "fmt"

// The percentage of a position in the draft is pale if fewer than fewTests tokens were tested there.
const fewTests = 8

// places draws the acceptance of this reply by position in the draft: a bar and a percentage for each. A
// percentage of few tests is pale.
func (c *column) places(rows int) []string {
	t := &c.s.Reply.Totals
	n := min(len(t.PositionTested), len(t.PositionKept))
	recent := c.s.Recent(recentRounds)
	share, ok := recent.Acceptance()
	all := percent(c.th, share, ok) + " of tested"
	title := longestThatFits(c.w-len(all)-5, "kept by place, if all before were", "kept by place, if tested", "kept by place")
	lines := []string{c.heading(title, "", all)}
	if n == 0 {
		lines[0] = c.heading("kept by place in the draft", "", "")
		return append(lines, c.note("How often the first, second, … guess of a draft is kept. A guess is tested only if all before it were kept.", rows-1)...)
	}
	pitch, fit := c.pitchFor(n, leastPitch+1)
	chart := bars{pitch: pitch}
	var shares, names []label
	for i := range fit {
		share := float64(t.PositionKept[i]) / float64(max(t.PositionTested[i], 1))
		style := c.th.Strong
		if t.PositionTested[i] < fewTests {
			style = c.th.Label
		}
		chart.shares, chart.styles = append(chart.shares, share), append(chart.styles, c.th.Graph)
		shares = append(shares, label{fmt.Sprintf("%.0f%%", 100*share), style})
		names = append(names, label{fmt.Sprint(i + 1), c.th.Label})
	}
	lines = append(lines, chart.draw(c, rows-3)...)
	return append(lines, chart.under(c, "", shares), chart.under(c, "", names))
}

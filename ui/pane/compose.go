// Package pane draws the panes around the transcript: the lane with the round in progress, the side
// column with figures, the inspector of one token, the strip for small windows, and the status line.
//
// A pane is a pure function of state, theme and size. It returns exactly h lines of exactly w cells.
// So recorded events draw the same frames as live ones.
package pane

import (
	"strings"

	"specula/ui/layout"
	"specula/ui/paint"
	"specula/ui/theme"
)

// Parts are drawn panes. Each has as many lines as its rectangle is high; panes without a rectangle
// are nil.
type Parts struct {
	Chat, Strip, Lane, Composer, Status, Side, Inspector []string
	// Over covers the rows above the composer, as wide as the window: a long message, the menu of
	// commands. It may be nil.
	Over []string
}

// Compose joins the panes and the rules between them to r.H lines of r.W cells, separated by
// newlines. For a window that is too small for panes use TooSmall.
func Compose(r layout.Rects, th *theme.Theme, p Parts) string {
	rows := make([][]string, r.H) // pieces of each line, from left to right
	put := func(at layout.Rect, lines []string) {
		if at.Empty() {
			return
		}
		for i, line := range paint.Block(lines, at.W, at.H) {
			if y := at.Y + i; y >= 0 && y < len(rows) {
				rows[y] = append(rows[y], line)
			}
		}
	}
	put(r.Chat, p.Chat)
	if r.Side.Empty() {
		put(r.Inspector, p.Inspector)
	}
	put(r.Lane, p.Lane)
	put(r.Strip, p.Strip)
	put(r.Composer, p.Composer)
	for _, rule := range r.Horizontal {
		if rule.X == 0 {
			put(rule, []string{th.Rule.On(repeat(th.Glyph.HRule, rule.W))})
		}
	}
	put(r.Vertical, verticalRule(r, th))
	put(r.Side, p.Side)
	if !r.Side.Empty() {
		put(r.Inspector, p.Inspector)
	}
	for _, rule := range r.Horizontal {
		if rule.X > 0 {
			put(rule, []string{th.Rule.On(repeat(th.Glyph.HRule, rule.W))})
		}
	}
	put(r.Status, p.Status)

	top := r.Composer.Y - 1 - len(p.Over)
	for i, line := range p.Over {
		if y := top + i; y >= 0 && y < len(rows) {
			rows[y] = []string{line}
		}
	}

	lines := make([]string, r.H)
	for y, pieces := range rows {
		lines[y] = strings.Join(pieces, "")
	}
	return strings.Join(lines, "\n")
}

// verticalRule draws the rule left of the side column, with a junction at each horizontal rule. It
// returns nil without a side column.
func verticalRule(r layout.Rects, th *theme.Theme) []string {
	if r.Vertical.Empty() {
		return nil
	}
	left, right := make(map[int]bool), make(map[int]bool)
	if r.Lane.H > 2 {
		left[r.Lane.Y] = true // the lane's heading
	}
	for _, rule := range r.Horizontal {
		if rule.X == 0 {
			left[rule.Y] = true
		} else {
			right[rule.Y] = true
		}
	}
	lines := make([]string, r.Vertical.H)
	for i := range lines {
		y := r.Vertical.Y + i
		sign := th.Glyph.VRule
		switch {
		case left[y] && right[y]:
			sign = th.Glyph.Cross4
		case left[y]:
			sign = th.Glyph.TeeLeft
		case right[y]:
			sign = th.Glyph.TeeRight
		}
		lines[i] = th.Rule.On(sign)
	}
	return lines
}

func repeat(sign string, n int) string { return strings.Repeat(sign, max(n, 0)) }

// joinNonEmpty joins a and b with sep, which it leaves out if a or b is empty.
func joinNonEmpty(sep, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}

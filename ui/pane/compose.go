// Package pane draws the panes around the transcript: the head with the speed-up, the pictures of rounds
// and of the trade-off, the lane with the round in progress, the inspector of one token, and the status
// line.
//
// A pane is a pure function of state, theme, size and options. Its lines have exactly w cells. If it is
// given a height h, it returns exactly h lines. So recorded events draw the same frames as live ones.
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
	Head, Chat, Picture, Lane, Settings, Composer, Status, Side, Inspector []string
	// Over covers the rows above the composer, as wide as the window: a long message, the menu of
	// commands. It may be nil.
	Over []string
}

// Compose joins the panes and the dividing lines between them to r.H lines of r.W cells, separated by
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
	rules := func(right bool) {
		for _, rule := range r.Horizontal {
			if rule.X > 0 == right {
				put(rule, []string{horizontalRule(r, th, rule)})
			}
		}
	}
	put(r.Head, p.Head)
	put(r.Chat, p.Chat)
	if r.Side.Empty() {
		put(r.Inspector, p.Inspector)
	}
	put(r.Picture, p.Picture)
	put(r.Lane, p.Lane)
	rules(false)
	put(r.Vertical, verticalRule(r, th))
	put(r.Side, p.Side)
	if !r.Side.Empty() {
		put(r.Inspector, p.Inspector)
	}
	rules(true)
	put(r.Settings, p.Settings)
	put(r.Composer, p.Composer)
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

// horizontalRule draws a horizontal dividing line, with a junction where the vertical one begins below.
func horizontalRule(r layout.Rects, th *theme.Theme, at layout.Rect) string {
	x := r.Vertical.X - at.X
	if r.Vertical.Empty() || at.Y != r.Vertical.Y-1 || x < 0 || x >= at.W {
		return th.Rule.On(repeat(th.Glyph.HRule, at.W))
	}
	return th.Rule.On(repeat(th.Glyph.HRule, x) + th.Glyph.TeeDown + repeat(th.Glyph.HRule, at.W-x-1))
}

// verticalRule draws the dividing line left of the side column, with a junction at each horizontal one
// beside it. It returns nil without a side column.
func verticalRule(r layout.Rects, th *theme.Theme) []string {
	if r.Vertical.Empty() {
		return nil
	}
	lines := make([]string, r.Vertical.H)
	for i := range lines {
		y := r.Vertical.Y + i
		sign := th.Glyph.VRule
		left := y == r.Lane.Y // the lane's heading
		right := !r.Inspector.Empty() && y == r.Inspector.Y-1
		switch {
		case left && right:
			sign = th.Glyph.Cross4
		case left:
			sign = th.Glyph.TeeLeft
		case right:
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

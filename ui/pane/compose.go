// Package pane draws the panes around the transcript: the lane with the round in progress, the column of figures, the
// inspector of one token, the strip for small windows and the status line.
//
// A pane is a pure function of state, theme and size. It returns exactly h lines of exactly w cells and reads nothing else,
// so a recorded stream of events draws the same frames as the live one.
package pane

import (
	"strings"

	"specula/ui/layout"
	"specula/ui/paint"
	"specula/ui/theme"
)

// Parts are drawn panes, each as many lines as its rectangle is high; panes that the layout does not show stay nil.
type Parts struct {
	Chat, Strip, Lane, Composer, Status, Side, Inspector []string
}

// Compose puts the panes and the rules between them together: r.H lines of r.W cells, joined by newlines.
func Compose(r layout.Rects, th *theme.Theme, p Parts) string {
	left := stack(r, th, leftWidth(r), map[int][]string{
		r.Chat.Y: p.Chat, r.Strip.Y: p.Strip, r.Lane.Y: p.Lane, r.Composer.Y: p.Composer,
	})
	_ = left
	return strings.Join(left, "\n")
}

func leftWidth(r layout.Rects) int { return r.Chat.W }

func stack(r layout.Rects, th *theme.Theme, w int, parts map[int][]string) []string {
	return paint.Block(nil, w, r.H)
}

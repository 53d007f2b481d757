package pane

import (
	"fmt"

	"specula/ui/paint"
	"specula/ui/theme"
)

// Choice is a row of a menu.
type Choice struct{ Name, Does string }

// The menu's size, in cells.
const (
	menuRows   = 12 // most rows
	menuName   = 14 // least width of the names, so that explanations begin in one column
	menuMargin = 3  // room for the sign that marks a row
)

// Menu draws choices in at most rows lines of w cells; the marked one is always shown. at is its index, or
// −1 if none is marked. Without choices, or without room, Menu returns nil.
func Menu(th *theme.Theme, w, rows int, choices []Choice, at int) []string {
	rows = min(rows, menuRows, len(choices))
	if rows <= 0 {
		return nil
	}
	top := min(max(at-rows/2, 0), len(choices)-rows)
	names := menuName
	for _, c := range choices {
		if rows == len(choices) { // in a longer list, one long name would push all explanations away
			names = max(names, paint.Width(c.Name)+2)
		}
	}
	lines := make([]string, rows)
	for i := range lines {
		more := ""
		if i == rows-1 && rows < len(choices) {
			more = fmt.Sprintf(" %d of %d ", top+rows, len(choices))
		}
		lines[i] = choices[top+i].draw(th, w-len(more), names, top+i == at) + th.Label.On(more)
	}
	return lines
}

func (c Choice) draw(th *theme.Theme, w, names int, marked bool) string {
	out, style := paint.NewLine(th, w), theme.Style("")
	if marked {
		out.Put(th.Strong, " "+th.Glyph.Marker+" ")
		style = th.Strong
	}
	out.Pad(menuMargin).Put(style, c.Name)
	if c.Does != "" {
		out.Put("", "  ").Pad(menuMargin+names).Put(th.Label, c.Does)
	}
	return out.String()
}

// Usage draws how a command is used, on as many lines as it needs.
func Usage(th *theme.Theme, w int, usage string) []string {
	var lines []string
	for _, text := range paint.Wrap(usage, w-2*menuMargin, menuRows) {
		lines = append(lines, paint.NewLine(th, w).Pad(menuMargin).Put(th.Label, text).String())
	}
	return lines
}

package pane

import (
	"specula/ui/paint"
	"specula/ui/theme"
)

// Menu draws words with gap between them, in as few rows of w cells as possible. If they need more than
// rows rows, the last row is cut off. Without words it returns nil.
func Menu(th *theme.Theme, w, rows int, words []string, gap string) []string {
	if len(words) == 0 {
		return nil
	}
	drawn := []*paint.Line{paint.NewLine(th, w).Put("", " ")}
	used := 0 // cells of the last row
	for _, word := range words {
		row := drawn[len(drawn)-1]
		need := paint.Width(word)
		switch {
		case used == 0:
		case used+len(gap)+need > w-2 && len(drawn) < rows:
			row = paint.NewLine(th, w).Put("", " ")
			drawn = append(drawn, row)
			used = 0
		default:
			row.Put("", gap)
			used += len(gap)
		}
		row.Put("", word)
		used += need
	}
	lines := make([]string, len(drawn))
	for i, row := range drawn {
		lines[i] = row.String()
	}
	return lines
}

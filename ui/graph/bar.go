package graph

import (
	"math"
	"strings"
)

var (
	horizontalEighths = [8]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	verticalEighths   = [8]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"}
)

// Bar draws share, from 0 to 1, as a bar of at most w cells, and returns it with its length in cells. If
// share and w are above 0, the bar is never empty.
func Bar(share float64, w int, ascii bool) (bar string, cells int) {
	eighths := eighths(share, w)
	if ascii {
		cells = (eighths + 7) / 8
		return strings.Repeat("#", cells), cells
	}
	full, rest := eighths/8, eighths%8
	bar = strings.Repeat("█", full) + horizontalEighths[rest]
	if rest > 0 {
		full++
	}
	return bar, full
}

// Columns returns h lines with bars side by side. cells is the width of a bar, and gap the width of the
// empty space after it. A share that is NaN or not above 0 has an empty bar.
func Columns(shares []float64, cells, gap, h int, ascii bool) []string {
	lines := make([]string, h)
	for y := range lines {
		var line strings.Builder
		for _, share := range shares {
			above := eighths(share, h) - 8*(h-1-y)
			sign := " "
			switch {
			case above >= 8 && ascii, ascii && above > 3:
				sign = "#"
			case ascii:
			case above >= 8:
				sign = "█"
			case above > 0:
				sign = verticalEighths[above]
			}
			line.WriteString(strings.Repeat(sign, cells) + strings.Repeat(" ", gap))
		}
		lines[y] = line.String()
	}
	return lines
}

// eighths returns the length of a bar, share of w cells, in eighths of a cell. It is at least 1 if share and
// w are above 0.
func eighths(share float64, w int) int {
	if !(share > 0) || w <= 0 {
		return 0
	}
	return max(1, int(math.Round(min(share, 1)*float64(8*w))))
}

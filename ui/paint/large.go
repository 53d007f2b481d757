package paint

import (
	"strings"

	"specula/ui/theme"
)

// LargeRows is the height of large figures.
const LargeRows = 3

// pixels of the figures, three wide unless said otherwise and five high.
var pixels = map[rune]string{
	'0': "### #.# #.# #.# ###", '1': ".#. ##. .#. .#. ###", '2': "### ..# ### #.. ###", '3': "### ..# ### ..# ###",
	'4': "#.# #.# ### ..# ..#", '5': "### #.. ### ..# ###", '6': "### #.. ### #.# ###", '7': "### ..# ..# ..# ..#",
	'8': "### #.# ### #.# ###", '9': "### #.# ### ..# ###", '.': ". . . . #", '×': "... #.# .#. #.# ...",
}

// Large returns a figure such as "×3.8" in three rows of block characters, all equally wide. A rune that is
// not in it leaves a gap. Terminals without Unicode get the text itself in the middle row.
func Large(th *theme.Theme, text string) []string {
	rows := make([]string, LargeRows)
	if !th.Glyph.Unicode {
		rows[0], rows[1], rows[2] = Spaces(len(text)), text, Spaces(len(text))
		return rows
	}
	for _, r := range text {
		lines := strings.Fields(pixels[r])
		for y := range rows {
			for x := 0; len(lines) > 0 && x < len(lines[0]); x++ {
				rows[y] += half(lit(lines, 2*y, x), lit(lines, 2*y+1, x))
			}
			rows[y] += " "
		}
	}
	return rows
}

func lit(lines []string, y, x int) bool { return y < len(lines) && lines[y][x] == '#' }

// half is a cell with an upper and a lower pixel.
func half(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	}
	return " "
}

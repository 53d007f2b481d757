package paint

import "strings"

// LargeRows is the number of rows of a large number. The upper half of the first row is empty, so that the
// number does not look cut off at the top of the screen.
const LargeRows = 3

// font has the characters of large numbers, each as 5 rows of dots. A row of the screen shows two of
// these rows in Large, one in Larger.
var font = map[rune][5]string{
	'0': {"###", "# #", "# #", "# #", "###"}, '1': {" # ", "## ", " # ", " # ", "###"},
	'2': {"###", "  #", "###", "#  ", "###"}, '3': {"###", "  #", " ##", "  #", "###"},
	'4': {"# #", "# #", "###", "  #", "  #"}, '5': {"###", "#  ", "###", "  #", "###"},
	'6': {"###", "#  ", "###", "# #", "###"}, '7': {"###", "  #", "  #", " # ", " # "},
	'8': {"###", "# #", "###", "# #", "###"}, '9': {"###", "# #", "###", "  #", "###"},
	'.': {" ", " ", " ", " ", "#"}, '×': {"   ", "# #", " # ", "# #", "   "},
}

// LargerRows is the number of rows that Larger takes.
const LargerRows = 5

// Larger draws a number as Large does, but twice as large: in LargerRows lines. Like Large it returns nil if
// font lacks one of the characters.
func Larger(figure string) []string {
	lines := make([]string, LargerRows)
	for _, sign := range figure {
		dots, known := font[sign]
		if !known {
			return nil
		}
		for y := range lines {
			lines[y] += twoCells.Replace(dots[y]) + "  "
		}
	}
	return lines
}

// twoCells draws a dot two cells wide, which is about as wide as a row is high.
var twoCells = strings.NewReplacer("#", "██", " ", "  ")

// Large draws a number such as "×3.8" in large characters: LargeRows lines of equal width. It returns
// nil if font lacks one of the characters.
func Large(figure string) []string {
	var rows [2 * LargeRows]strings.Builder // rows of dots
	for _, sign := range figure {
		dots, known := font[sign]
		if !known {
			return nil
		}
		for y := range rows {
			row := strings.Repeat(" ", len(dots[0]))
			if y > 0 {
				row = dots[y-1]
			}
			rows[y].WriteString(row + " ")
		}
	}
	lines := make([]string, LargeRows)
	for y := range lines {
		upper, lower := rows[2*y].String(), rows[2*y+1].String()
		var line strings.Builder
		for x := range len(upper) {
			line.WriteString(halves[upper[x] != ' '][lower[x] != ' '])
		}
		lines[y] = line.String()
	}
	return lines
}

// halves has the character that fills the given halves of a cell. The first key says whether the
// upper half is filled, the second whether the lower half is.
var halves = map[bool]map[bool]string{
	false: {false: " ", true: "▄"},
	true:  {false: "▀", true: "█"},
}

// Package paint builds lines of an exact width from styled text. Every pane draws with a [Line].
//
// Invariant: a line is never wider or narrower than its rectangle. Texts must already be safe for
// the terminal (ui/sanitize).
package paint

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"specula/ui/theme"
)

// Line is one line of w cells under construction. Text that does not fit is cut between graphemes
// and ends with an ellipsis.
type Line struct {
	w, used  int
	cells    ansi.Method
	ellipsis string
	out      strings.Builder
	style    theme.Style // the style that is on at the end of out
	full     bool
}

// NewLine returns an empty line of w cells.
func NewLine(th *theme.Theme, w int) *Line {
	l := &Line{w: max(w, 0), cells: th.Cells, ellipsis: th.Glyph.Ellipsis}
	l.out.Grow(2 * l.w) // room for text and styles
	return l
}

// Put appends text in a style and returns the line, for chaining.
func (l *Line) Put(style theme.Style, text string) *Line {
	if text == "" || l.full {
		return l
	}
	width := width(l.cells, text)
	if width > l.w-l.used {
		text, width = cut(l.cells, text, l.w-l.used, l.ellipsis)
		l.full = true
	}
	l.used += width
	l.write(style, text)
	return l
}

// write appends text. It does not repeat a style that is on already: a picture has many cells of one
// style, and every byte costs the terminal time.
func (l *Line) write(style theme.Style, text string) {
	if text == "" {
		return
	}
	if style != l.style {
		l.end()
		l.out.WriteString(string(style))
		l.style = style
	}
	l.out.WriteString(text)
}

func (l *Line) end() {
	if l.style != "" {
		l.out.WriteString(theme.Reset)
		l.style = ""
	}
}

// cut returns the graphemes of text that fit into w cells together with an ellipsis after them,
// and how many cells the result takes.
func cut(cells ansi.Method, text string, w int, ellipsis string) (string, int) {
	used := width(cells, ellipsis)
	if used > w {
		return "", 0
	}
	end := 0
	for end < len(text) {
		cluster, width := ansi.FirstGraphemeCluster(text[end:], cells)
		if used+width > w {
			break
		}
		used += width
		end += len(cluster)
	}
	return text[:end] + ellipsis, used
}

// Left returns how many cells are free.
func (l *Line) Left() int {
	if l.full {
		return 0
	}
	return l.w - l.used
}

// Pad fills with spaces up to column x, or to the end of the line if x is beyond it.
func (l *Line) Pad(x int) *Line {
	if n := min(x, l.w) - l.used; n > 0 {
		l.write("", Spaces(n))
		l.used += n
	}
	return l
}

// Right puts text at the right edge and returns true. If the text does not fit after the text
// before it and one space, Right changes nothing and returns false.
func (l *Line) Right(style theme.Style, text string) bool {
	width := width(l.cells, text)
	if l.full || width == 0 || l.used+width+1 > l.w && l.used > 0 || width > l.w {
		return false
	}
	l.Pad(l.w - width)
	l.Put(style, text)
	return true
}

// String returns the line, filled to its width.
func (l *Line) String() string {
	l.Pad(l.w)
	l.end()
	return l.out.String()
}

// Width returns how many cells s takes, without escape sequences. For an emoji of several code points it
// assumes the width of most terminals; a Line uses the width of this terminal.
func Width(s string) int { return width(ansi.GraphemeWidth, s) }

func width(cells ansi.Method, s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return cells.StringWidth(s)
		}
	}
	return len(s)
}

// Fit returns text in exactly w cells: cut with an ellipsis, or filled with spaces at the right.
func Fit(th *theme.Theme, style theme.Style, text string, w int) string {
	return NewLine(th, w).Put(style, text).String()
}

// Wrap breaks safe text at spaces into lines of w cells: at most n, but never less than one for a text
// with a word. Lines may be longer: a word of more than w cells is not broken, and the last line gets
// the rest of the text. So the caller must cut the lines.
func Wrap(text string, w, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(lines) < n-1 && Width(line)+1+Width(word) > w:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Block returns exactly h lines: it adds blank lines of w cells at the end, or leaves out extra ones.
// The given lines must have w cells already.
func Block(lines []string, w, h int) []string {
	if len(lines) > h {
		return lines[:max(h, 0)]
	}
	blank := Spaces(w)
	for len(lines) < h {
		lines = append(lines, blank)
	}
	return lines
}

const blanks = "                                                                                                    "

// Spaces returns n spaces.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Strings returns the finished lines.
func Strings(lines []*Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.String()
	}
	return out
}

package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// segment is a piece of one token on one line.
type segment struct {
	token int // index into Message.Tokens, pendingToken-i for token i of a pending draft, or noToken
	text  string
	width int
}

const (
	noToken      = -1
	pendingToken = -2
)

// line is one wrapped line.
type line struct {
	segments []segment
	width    int
	start    int // bytes of the message before this line; an anchor that survives a change of width
}

// wrapper breaks a growing text into lines of at most w cells, at spaces where there are any. A closed line never changes
// again, however the text goes on, so that feeding a token costs time in proportion to the token.
type wrapper struct {
	w     int
	cells ansi.Method
	done  []line
	open  line
	soft  bool // the open line began where a word did not fit, not at a newline
	fed   int  // bytes taken

	// Where the open line may be broken: before segments[breakSegment].text[breakByte:], at breakWidth cells.
	canBreak                            bool
	breakSegment, breakByte, breakWidth int

	last      string // last grapheme of the open line, which the next token may still extend
	lastWidth int
}

func newWrapper(w int, cells ansi.Method) *wrapper { return &wrapper{w: max(w, 1), cells: cells} }

// feed appends the text of a token.
func (p *wrapper) feed(token int, text string) {
	text, token = p.glue(token, text)
	for len(text) > 0 {
		n, width := p.grapheme(text)
		p.put(token, text[:n], width)
		text = text[n:]
	}
}

// grapheme returns the length in bytes and the width in cells of the first grapheme of text.
func (p *wrapper) grapheme(text string) (n, width int) {
	if c := text[0]; c < 0x80 && (len(text) == 1 || text[1] < 0x80) {
		return 1, 1
	}
	cluster, width := ansi.FirstGraphemeCluster(text, p.cells)
	return len(cluster), width
}

// glue looks whether text begins with the rest of the grapheme that the line ends with, such as a combining mark. If so that
// grapheme is taken back and put at the front of text, and the whole belongs to the earlier token.
func (p *wrapper) glue(token int, text string) (string, int) {
	if text == "" || text[0] < 0x80 {
		return text, token
	}
	if p.last == "" {
		return p.onCircle(text), token
	}
	joined := p.last + text
	n, width := p.grapheme(joined)
	if n <= len(p.last) {
		return text, token
	}
	end := &p.open.segments[len(p.open.segments)-1]
	owner := end.token
	end.text = end.text[:len(end.text)-len(p.last)]
	end.width -= p.lastWidth
	p.open.width -= p.lastWidth
	p.fed -= len(p.last)
	if p.canBreak && p.breakWidth > p.open.width {
		p.canBreak = false
	}
	p.put(owner, joined[:n], width)
	return joined[n:], token
}

// onCircle gives a mark that stands at the beginning of a line something to stand on, so that it does not land on what the pane
// draws before the line.
func (p *wrapper) onCircle(text string) string {
	if n, _ := p.grapheme(" " + text); n > 1 {
		return "◌" + text
	}
	return text
}

// put places one grapheme.
func (p *wrapper) put(token int, g string, width int) {
	switch {
	case g == "\n":
		p.fed++
		p.close()
		p.soft = false
		return
	case g == " " && (p.open.width >= p.w || p.soft && p.open.width == 0):
		// A space at a soft break is the break itself. It stays with the closed line's token but takes no cell.
		p.fed++
		p.last = ""
		p.markBreak()
		return
	case width > p.w: // a window narrower than one character
		g, width = "?", 1
	}
	// Wide scripts break between any two characters, and flags before their first half, which may come alone.
	apart := width > 1 || strings.HasPrefix(g, flagLetters)
	if apart {
		p.markBreak()
	}
	if p.open.width+width > p.w {
		p.breakLine()
	}
	p.append(token, g, width)
	if g == " " || apart {
		p.markBreak()
	}
}

// flagLetters are the first bytes of the letters that flags are spelled in, U+1F1E6 to U+1F1FF.
const flagLetters = "\xf0\x9f\x87"

func (p *wrapper) append(token int, g string, width int) {
	p.fed += len(g)
	p.open.width += width
	p.last, p.lastWidth = g, width
	if n := len(p.open.segments); n > 0 && p.open.segments[n-1].token == token {
		s := &p.open.segments[n-1]
		s.text += g
		s.width += width
		return
	}
	p.open.segments = append(p.open.segments, segment{token, g, width})
}

// markBreak notes that the line may be broken at its present end.
func (p *wrapper) markBreak() {
	p.canBreak = true
	p.breakSegment, p.breakByte, p.breakWidth = len(p.open.segments), 0, p.open.width
	if n := len(p.open.segments); n > 0 {
		p.breakSegment, p.breakByte = n-1, len(p.open.segments[n-1].text)
	}
}

// breakLine closes the open line because the next grapheme does not fit, and carries the unfinished word over.
func (p *wrapper) breakLine() {
	if !p.canBreak || p.breakWidth == 0 {
		p.close()
		p.soft = true
		return
	}
	var carried []segment
	at := &p.open.segments[p.breakSegment]
	if rest := at.text[p.breakByte:]; rest != "" {
		width := p.cells.StringWidth(rest)
		carried = append(carried, segment{at.token, rest, width})
		at.text, at.width = at.text[:p.breakByte], at.width-width
	}
	carried = append(carried, p.open.segments[p.breakSegment+1:]...)
	p.open.segments = p.open.segments[:p.breakSegment+1]
	carriedWidth := p.open.width - p.breakWidth
	p.open.width = p.breakWidth
	last, lastWidth := p.last, p.lastWidth
	p.close()
	p.soft = true
	p.open.segments, p.open.width = carried, carriedWidth
	for _, s := range carried {
		p.open.start -= len(s.text)
	}
	if len(carried) > 0 {
		p.last, p.lastWidth = last, lastWidth
	}
}

// close moves the open line to the finished ones.
func (p *wrapper) close() {
	p.done = append(p.done, p.open)
	p.open = line{start: p.fed}
	p.canBreak, p.last = false, ""
}

// fork returns a wrapper that goes on from here without changing p, for text that may still be taken back. Its done lines
// are only those it closed itself.
func (p *wrapper) fork() wrapper {
	f := *p
	f.done = nil
	f.open.segments = append([]segment(nil), p.open.segments...)
	return f
}

// visible replaces newlines, so that a token that is not part of the reply never moves what is.
func visible(text, newline string) string {
	if strings.IndexByte(text, '\n') < 0 {
		return text
	}
	return strings.ReplaceAll(text, "\n", newline)
}

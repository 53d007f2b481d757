package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// segment is a piece of one token on one line.
type segment struct {
	// token is an index into Message.Tokens, or pendingToken-i for token i of a pending draft, or
	// noToken.
	token int
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
	start    int // bytes of the message's text before this line, whatever the width of the window
}

// wrapper breaks a growing text into lines of at most w cells, at spaces where there are any. A
// closed line never changes again, so feeding a token costs time in proportion to the token.
type wrapper struct {
	w     int
	cells ansi.Method
	done  []line
	open  line
	soft  bool // the open line began because text did not fit, not at a newline
	fed   int  // number of bytes of the reply so far

	// inReply reports whether a token is part of the reply; nil: every token is. Other tokens come and go,
	// so they do not count in line.start.
	inReply func(token int) bool

	// Where the open line may be broken: before segments[breakSegment].text[breakByte:], at
	// breakWidth cells.
	canBreak                            bool
	breakSegment, breakByte, breakWidth int

	last      string // last grapheme of the open line, which the next token may extend
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

// glue looks whether text continues the last grapheme of the open line, for instance with a combining mark.
// If so, it replaces that grapheme by the joined one, which belongs to the earlier token, and returns the
// rest of text. Otherwise it returns text. If there is no grapheme to continue, onCircle may add a circle.
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
	p.take(owner, -len(p.last))
	if p.canBreak && p.breakWidth > p.open.width {
		p.canBreak = false
	}
	p.put(owner, joined[:n], width)
	return joined[n:], token
}

// onCircle puts a circle before a mark at the start of a line. Otherwise the mark would join what
// the pane draws before the line.
func (p *wrapper) onCircle(text string) string {
	if n, _ := p.grapheme(" " + text); n > 1 {
		return "◌" + text
	}
	return text
}

// put appends one grapheme to the open line, or to a new line if it does not fit.
func (p *wrapper) put(token int, g string, width int) {
	switch {
	case g == "\n":
		p.take(token, 1)
		p.close()
		p.soft = false
		return
	case g == " " && (p.open.width >= p.w || p.soft && p.open.width == 0):
		// A space at a soft break is replaced by the break. It counts as text but takes no cell.
		p.take(token, 1)
		p.last = ""
		p.markBreak()
		return
	case width > p.w: // a window narrower than one character
		g, width = "?", 1
	}
	// A line can be broken before any wide character, and before a flag. The first half of a flag may
	// come alone, as one narrow character.
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

// flagLetters are the first bytes of the letters that spell flags, U+1F1E6 to U+1F1FF.
const flagLetters = "\xf0\x9f\x87"

func (p *wrapper) append(token int, g string, width int) {
	p.take(token, len(g))
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

// take adds bytes of a token to fed, if the token is part of the reply.
func (p *wrapper) take(token, bytes int) { p.fed += p.size(token, bytes) }

// size returns how many of a token's bytes count as text of the reply: all or none.
func (p *wrapper) size(token, bytes int) int {
	if p.inReply != nil && !p.inReply(token) {
		return 0
	}
	return bytes
}

// markBreak records that the line may be broken at its current end.
func (p *wrapper) markBreak() {
	p.canBreak = true
	p.breakSegment, p.breakByte, p.breakWidth = len(p.open.segments), 0, p.open.width
	if n := len(p.open.segments); n > 0 {
		p.breakSegment, p.breakByte = n-1, len(p.open.segments[n-1].text)
	}
}

// breakLine closes the open line because the next grapheme does not fit, and moves the unfinished
// word to the next line.
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
		p.open.start -= p.size(s.token, len(s.text))
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

// fork returns a wrapper that continues from here without changing p, for text that may be taken
// back. Its done lines are only those that it closed itself.
func (p *wrapper) fork() wrapper {
	f := *p
	f.done = nil
	f.open.segments = append([]segment(nil), p.open.segments...)
	return f
}

// visible replaces newlines by a sign, so that a token that is not part of the reply never moves the text
// of the reply.
func visible(text, newline string) string {
	if strings.IndexByte(text, '\n') < 0 {
		return text
	}
	return strings.ReplaceAll(text, "\n", newline)
}

// Package sanitize makes text safe for a terminal. It is the one place where that is done: whatever a model, a file, a
// server or the clipboard says passes here before it is drawn, written to stderr or put into a window title.
//
// A terminal obeys what it prints. An escape sequence in a reply can move the cursor over what the user believes, fill
// the clipboard, rename the window, or ask the terminal a question whose answer arrives on stdin as if it had been typed.
// Invisible characters can turn the reading direction around or hide text from the reader. So
//
//   - whole escape sequences are dropped, in the 7-bit and the C1 form, also when they never end;
//   - control characters are dropped, except newline; CR LF, CR, U+2028 and U+2029 become newline, a tab four spaces;
//   - bytes that are not UTF-8 become U+FFFD;
//   - invisible format characters become visible, as ⟨U+202E⟩, except where they are spelling: joiners and variation selectors
//     inside an emoji, and one joiner or non-joiner after a letter of Arabic, Devanagari and other scripts that join;
//   - at most eight combining marks stay on one character.
//
// Only the copy that is shown changes. What is stored, sent to the model or written to a pipe stays raw.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tabWidth     = 4
	maxCombining = 8
	// A string sequence (OSC, DCS, …) that nobody ends swallows at most this much, or the rest of its line.
	maxSequenceBytes = 4096
)

// Text returns s made safe; newlines stay. Text is idempotent.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var z Sanitizer
	out := z.Write(s)
	return out + z.Flush()
}

// Copy returns s made safe as Text does, for the clipboard or for a file that a terminal may show: tabs stay.
func Copy(s string) string {
	z := Sanitizer{tabs: true}
	out := z.Write(s)
	return out + z.Flush()
}

// Line returns s made safe for a place that has one line: newlines become spaces.
func Line(s string) string {
	return strings.ReplaceAll(Text(s), "\n", " ")
}

// plain reports whether s is printable ASCII and newlines, which is what most tokens are.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && c != '\n') || c > 0x7e {
			return false
		}
	}
	return true
}

// Sanitizer makes a stream safe piece by piece: a sequence, a rune or an emoji that is split between two pieces is
// treated as if it had come whole. The zero value is ready. It is not safe for concurrent use.
type Sanitizer struct {
	out     strings.Builder
	partial []byte // the beginning of a rune, at most 3 bytes
	scan    scanner
	tabs    bool // stay
	afterCR bool
	last    rune // the last base rune written; 0 at a line's start
	marks   int  // combining marks since then
	joined  bool // a joiner of letters was written since then
	joiner  bool // a U+200D after an emoji is held back until the next rune decides what it is
}

// Write takes the next piece and returns what can be shown of the stream so far and was not returned before.
func (z *Sanitizer) Write(piece string) string {
	if len(z.partial) > 0 {
		piece = string(z.partial) + piece
		z.partial = z.partial[:0]
	}
	for len(piece) > 0 {
		r, n := utf8.DecodeRuneInString(piece)
		if r == utf8.RuneError && n == 1 && !utf8.FullRuneInString(piece) {
			z.partial = append(z.partial, piece...)
			break
		}
		z.rune(r)
		piece = piece[n:]
	}
	return z.take()
}

// Flush ends the stream: what was held back is decided now. The Sanitizer may be used again for another stream.
func (z *Sanitizer) Flush() string {
	z.releaseJoiner()
	for range z.partial {
		z.out.WriteRune(utf8.RuneError)
	}
	out := z.take()
	*z = Sanitizer{}
	return out
}

func (z *Sanitizer) take() string {
	out := z.out.String()
	z.out.Reset()
	return out
}

func (z *Sanitizer) rune(r rune) {
	if z.scan.swallows(r) {
		return
	}
	afterCR := z.afterCR
	z.afterCR = r == '\r'
	switch {
	case r == '\n' && afterCR:
	case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
		z.releaseJoiner()
		z.out.WriteByte('\n')
		z.begin(0)
	case r == '\t':
		z.releaseJoiner()
		if z.tabs {
			z.out.WriteByte('\t')
		} else {
			z.out.WriteString("    "[:tabWidth])
		}
		z.begin(' ')
	case unicode.Is(unicode.Cc, r):
	default:
		z.printable(r)
	}
}

// printable handles a rune that is neither a control nor part of a sequence.
func (z *Sanitizer) printable(r rune) {
	if z.joiner && pictographic(r) {
		z.joiner = false
		z.out.WriteRune(zeroWidthJoiner)
	}
	z.releaseJoiner()
	switch {
	case r == zeroWidthJoiner && pictographic(z.last):
		z.joiner = true
	case (r == textSelector || r == emojiSelector) && takesSelector(z.last) && z.marks == 0:
		z.marks++
		z.out.WriteRune(r)
	case (r == zeroWidthJoiner || r == zeroWidthNonJoiner) && joins(z.last) && !z.joined:
		z.joined = true
		z.out.WriteRune(r)
	case invisible(r):
		z.reveal(r)
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc):
		if z.marks++; z.marks <= maxCombining {
			z.out.WriteRune(r)
		}
	default:
		z.begin(r)
		z.out.WriteRune(r)
	}
}

func (z *Sanitizer) releaseJoiner() {
	if z.joiner {
		z.joiner = false
		z.reveal(zeroWidthJoiner)
	}
}

func (z *Sanitizer) reveal(r rune) {
	fmt.Fprintf(&z.out, "⟨U+%04X⟩", r)
	z.begin('⟩')
}

// begin notes the base rune that marks and joiners from now on belong to.
func (z *Sanitizer) begin(r rune) { z.last, z.marks, z.joined = r, 0, false }

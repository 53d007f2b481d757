// Package sanitize makes text safe for a terminal. It is the only place that does: all text of a
// model, a file, a server or the clipboard passes through here before it is drawn, written to
// stderr or put into a window title. [Text] and [Line] take a whole text, a [Sanitizer] takes a
// stream piece by piece.
//
// Invariant: no escape sequence gets out, and no invisible character that is not part of the
// spelling. A terminal obeys what it prints: an escape sequence in a reply can overwrite what the
// user reads, fill the clipboard, rename the window, or ask the terminal a question whose answer
// arrives on stdin as if typed. Invisible characters can turn the reading direction around or hide
// text. Therefore
//
//   - whole escape sequences are dropped, in the 7-bit and the C1 form, even if they never end;
//   - control characters are dropped, except newline; CR LF, CR, U+2028 and U+2029 become newline, a
//     tab four spaces;
//   - bytes that are not UTF-8 become U+FFFD;
//   - invisible format characters become visible, as ⟨U+202E⟩, except where they are part of the
//     spelling: joiners and variation selectors inside an emoji, and one joiner or non-joiner after a
//     letter of Arabic, Devanagari and other scripts that join;
//   - at most eight combining marks stay on one character.
//
// Only the copy that is shown changes. What is stored, sent to the model or written to a pipe
// stays raw.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tabWidth     = 4 // spaces in place of a tab
	maxCombining = 8 // combining marks that stay on one character
	// A sequence without an end swallows the rest of its line, but at most this many runes.
	maxSequenceRunes = 4096
)

// Text returns s made safe. Newlines stay. Text(Text(s)) equals Text(s).
func Text(s string) string {
	if plain(s) {
		return s
	}
	var z Sanitizer
	out := z.Write(s)
	return out + z.Flush()
}

// Copy returns s made safe like Text, but keeps tabs. It is for the clipboard, and for a file that
// a terminal may show.
func Copy(s string) string {
	z := Sanitizer{tabs: true}
	out := z.Write(s)
	return out + z.Flush()
}

// Line returns s made safe for a place with one line: newlines become spaces.
func Line(s string) string {
	return strings.ReplaceAll(Text(s), "\n", " ")
}

// plain reports whether s is only printable ASCII and newlines, as most tokens are.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && c != '\n') || c > 0x7e {
			return false
		}
	}
	return true
}

// Sanitizer makes a stream safe piece by piece. A sequence, rune or emoji that is split between
// pieces is treated as if it had come whole. The zero value is ready. It is not safe for
// concurrent use.
type Sanitizer struct {
	out     strings.Builder
	partial []byte // the start of a rune, at most 3 bytes
	scan    scanner
	tabs    bool // keep tabs
	afterCR bool
	last    rune // the last base rune written; 0 at the start of a line
	marks   int  // combining marks since last
	joined  bool // a joiner of letters was written since last
	joiner  bool // a U+200D after an emoji is held back until the next rune
}

// Write takes the next piece. It returns the text that can be shown now: of this piece, and what was held
// back of earlier ones.
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

// Flush ends the stream and returns what was held back: an unfinished rune as U+FFFD, a joiner as visible
// text. The Sanitizer is then ready for another stream.
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

// printable writes a rune that is neither a control character nor part of a sequence: as it is, or as
// visible text (reveal). It drops combining marks beyond maxCombining, and holds a joiner back.
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

// reveal writes the code of a rune as visible text.
func (z *Sanitizer) reveal(r rune) {
	fmt.Fprintf(&z.out, "⟨U+%04X⟩", r)
	z.begin('⟩')
}

// begin records the base rune that the next marks and joiners belong to.
func (z *Sanitizer) begin(r rune) { z.last, z.marks, z.joined = r, 0, false }

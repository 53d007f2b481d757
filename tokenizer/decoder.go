package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxHeldBytes bounds what a Decoder holds back. The longest emoji in use (a family of four with
// skin tones) has 41 bytes. A visible character of more than maxHeldBytes is returned in parts.
const maxHeldBytes = 96

// Decoder turns ids into text as they arrive. It is not safe for use by several goroutines. A token
// may end inside a UTF-8 sequence, or between the parts of one visible character: a flag, an emoji
// joined from several, a Devanagari or Thai syllable. The decoder holds such an end back until a later
// token completes it. A combining mark may follow any letter, but nearly all texts write a letter with
// its mark as one code point. If the decoder waited after each letter, it would hold back the last
// letter of every word. So it waits only after the signs and scripts that continues names. After any
// other letter, a combining mark is returned later, with the token that it belongs to.
//
// The texts of all calls together equal the text of [Tokenizer.Decode]. Each byte that is not UTF-8
// becomes one U+FFFD. A control token gives no text of its own, but releases the text that was held back.
type Decoder struct {
	t     *Tokenizer
	held  []byte // at most maxHeldBytes between calls
	start bool   // no text since the start or since a control token
}

// NewDecoder returns a decoder at the start of a text.
func (t *Tokenizer) NewDecoder() *Decoder { return &Decoder{t: t, start: true} }

// Next takes the next token and returns the text it completes, which may be empty.
func (d *Decoder) Next(id int32) string {
	if d.t.IsControl(id) {
		text := d.Flush()
		d.start = true
		return text
	}
	raw := d.t.Bytes(id)
	if len(raw) == 0 {
		return ""
	}
	if d.start && d.t.addSpace && raw[0] == ' ' {
		raw = raw[1:] // the space that encoding put before the text
	}
	d.start = false
	d.held = append(d.held, raw...)
	n := completeLength(d.held)
	text := validText(d.held[:n])
	d.held = append(d.held[:0], d.held[n:]...)
	return text
}

// Flush returns all text that is held back, even if it is unfinished.
func (d *Decoder) Flush() string {
	text := validText(d.held)
	d.held = d.held[:0]
	return text
}

// completeLength returns how many bytes can be shown now.
func completeLength(held []byte) int {
	end := len(held) - unfinishedRune(held)
	last := lastCluster(held[:end])
	if !continues(held[last:end]) || len(held)-last > maxHeldBytes {
		return end
	}
	return last
}

// unfinishedRune returns how many bytes at the end of raw are an unfinished UTF-8 sequence.
func unfinishedRune(raw []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		if tail := raw[len(raw)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// lastCluster returns where the last grapheme cluster begins.
func lastCluster(text []byte) int {
	start := 0
	for clusters := graphemes.FromBytes(text); clusters.Next(); {
		start = clusters.Start()
	}
	return start
}

// vowelSigns are scripts that write vowels as marks on the letter before them.
var vowelSigns = []*unicode.RangeTable{
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar,
	unicode.Khmer, unicode.Balinese, unicode.Javanese,
}

// continues reports whether the character that follows is likely to belong to this grapheme cluster. That
// character is not known yet.
func continues(cluster []byte) bool {
	r, _ := utf8.DecodeLastRune(cluster)
	switch {
	case r < 0x300 || r == utf8.RuneError:
		return false
	case r == '\u200D': // zero-width joiner
		return true
	case r >= 0x1F1E6 && r <= 0x1F1FF: // regional indicators make a flag in pairs
		return utf8.RuneCount(cluster) == 1
	case r >= 0x1100 && r <= 0x11FF: // Hangul letters that are stacked into syllables
		return true
	case r >= 0xE0020 && r <= 0xE007E: // tags that spell a regional flag
		return true
	case r >= 0x2600 && unicode.In(r, unicode.So, unicode.Sk): // emoji and skin tones
		return true
	}
	return unicode.Is(unicode.M, r) || unicode.In(r, vowelSigns...)
}

// validText returns raw as text, each byte that is not UTF-8 as U+FFFD.
func validText(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	var text strings.Builder
	for _, r := range string(raw) {
		text.WriteRune(r)
	}
	return text.String()
}

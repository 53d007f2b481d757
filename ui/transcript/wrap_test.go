package transcript

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/ui/sanitize"
)

// render returns the text of each line.
func (p *wrapper) render() []string {
	var out []string
	for _, l := range append(append([]line(nil), p.done...), p.open) {
		text := ""
		for _, s := range l.segments {
			text += s.text
		}
		out = append(out, text)
	}
	return out
}

func TestWrap(t *testing.T) {
	cases := []struct {
		name   string
		w      int
		tokens []string
		want   string
	}{
		{"fits", 10, []string{"one", " two"}, "one two"},
		{"at a space", 8, []string{"one", " two", " three"}, "one two |three"},
		{"inside a word of two tokens", 8, []string{"one two", "th", "ree"}, "one |twothree"},
		{"exactly full", 7, []string{"one two", " three"}, "one two|three"},
		{"space hangs over the edge", 7, []string{"one two", " ", "three"}, "one two|three"},
		{"many spaces at the break", 3, []string{"one", "    ", "two"}, "one|two"},
		{"long word is broken hard", 4, []string{"abcdefghij"}, "abcd|efgh|ij"},
		{"long word after a short one", 4, []string{"a", " bcdefgh"}, "a |bcde|fgh"},
		{"newlines", 9, []string{"a\n", "\nb"}, "a||b"},
		{"indentation stays", 9, []string{"if x {\n", "    y\n", "}"}, "if x {|    y|}"},
		{"wide characters break anywhere", 5, []string{"日本語", "日本"}, "日本|語日|本"},
		{"wider than the window", 1, []string{"日"}, "?"},
		{"mark in the next token", 4, []string{"abce", "\u0301"}, "abce\u0301"},
		{"mark without a letter", 4, []string{"a\n", "\u0301b"}, "a|◌\u0301b"},
		{"emoji joined over tokens", 4, []string{"abc", "👩", "\u200d💻"}, "abc|👩\u200d💻"},
		{"flag over tokens", 3, []string{"ab", "🇩", "🇪"}, "ab|🇩🇪"},
		{"nothing", 4, []string{"", ""}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newWrapper(c.w, ansi.GraphemeWidth)
			for i, text := range c.tokens {
				p.feed(i, text)
			}
			if got := strings.Join(p.render(), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

var pieces = []string{"a", "bc", " d", " ", "  ", "\n", " word", "日", "\u0301", "👩", "\u200d💻", "🇩", "🇪", "averylongwordindeed", "1", "é", ",", "x "}

// How a text is cut into tokens must not change how it is wrapped. No line may be too wide. What a
// fork adds must be what the wrapper itself would add.
func TestWrapDoesNotDependOnTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		w := 2 + r.IntN(24)
		cells := ansi.GraphemeWidth
		// WcWidth adds up the cells of an emoji's parts. A line must have room for the widest emoji, because a
		// wider one is not drawn.
		if r.IntN(2) == 0 {
			cells, w = ansi.WcWidth, w+12
		}
		whole, parts, forked := newWrapper(w, cells), newWrapper(w, cells), newWrapper(w, cells)
		// The wrapper only gets what the sanitiser lets through. The test leaves out a selector
		// that makes a digit wider, because a line that was closed before the selector stays
		// closed.
		var safe sanitize.Sanitizer
		text := ""
		for i := range 1 + r.IntN(40) {
			piece := safe.Write(pieces[r.IntN(len(pieces))])
			if strings.HasPrefix(piece, "\u0301") && (text == "" || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\n")) {
				continue // the space that would carry the mark may have vanished in a break
			}
			text += piece
			parts.feed(i, piece)
		}
		whole.feed(noToken, text)
		got, want := strings.Join(parts.render(), "|"), strings.Join(whole.render(), "|")
		if got != want {
			t.Fatalf("w=%d %q:\nin tokens %q\nas a whole %q", w, text, got, want)
		}
		cut := r.IntN(len(text) + 1)
		for cut > 0 && cut < len(text) && text[cut]&0xc0 == 0x80 {
			cut--
		}
		forked.feed(0, text[:cut])
		before := strings.Join(forked.render(), "|")
		f := forked.fork()
		f.feed(1, text[cut:])
		f.done = append(append([]line(nil), forked.done...), f.done...)
		if got := strings.Join(f.render(), "|"); got != want {
			t.Fatalf("w=%d %q forked at %d: %q, want %q", w, text, cut, got, want)
		}
		if after := strings.Join(forked.render(), "|"); after != before {
			t.Fatalf("w=%d %q: the fork changed its origin from %q to %q", w, text, before, after)
		}
		checkLines(t, parts, w)
	}
}

func checkLines(t *testing.T, p *wrapper, w int) {
	t.Helper()
	start := -1
	for _, l := range append(append([]line(nil), p.done...), p.open) {
		sum := 0
		for _, s := range l.segments {
			sum += s.width
			if got := p.cells.StringWidth(s.text); got != s.width {
				t.Errorf("segment %q: width %d, is %d", s.text, s.width, got)
			}
		}
		if sum != l.width || l.width > w {
			t.Errorf("line of width %d with segments of %d in a window of %d", l.width, sum, w)
		}
		if l.start < start {
			t.Errorf("line starts at %d, the one before at %d", l.start, start)
		}
		start = l.start
	}
}

package sanitize_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"specula/ui/sanitize"
)

func TestTextLeavesOnlyWhatIsHarmless(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			if got := sanitize.Text(c.in); got != c.want {
				t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// However a stream is cut, the pieces together are what Text makes of the whole.
func TestPiecesEqualTheWhole(t *testing.T) {
	for _, c := range hostile {
		for cut := 1; cut <= 3; cut++ {
			if got := inPieces(c.in, cut); got != c.want {
				t.Errorf("%s in pieces of %d: %q, want %q", c.name, cut, got, c.want)
			}
		}
	}
}

func inPieces(s string, n int) string {
	var z sanitize.Sanitizer
	var out strings.Builder
	for len(s) > 0 {
		k := min(n, len(s))
		out.WriteString(z.Write(s[:k]))
		s = s[k:]
	}
	return out.String() + z.Flush()
}

func TestCombiningMarksAreCapped(t *testing.T) {
	flood := "e" + strings.Repeat("\u0301", 500) + "f\u0302"
	want := "e" + strings.Repeat("\u0301", 8) + "f\u0302"
	if got := sanitize.Text(flood); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestUnendedSequenceLosesBoundedText(t *testing.T) {
	in := "\x1b]0;" + strings.Repeat("x", 10_000)
	got := sanitize.Text(in)
	if lost := len(in) - len(got); lost > 4200 || lost < 4000 {
		t.Errorf("%d bytes were swallowed, want about 4096", lost)
	}
}

func TestFlushMakesReadyForAnotherStream(t *testing.T) {
	var z sanitize.Sanitizer
	z.Write("\x1b]0;never ended")
	z.Flush()
	if got := z.Write("text") + z.Flush(); got != "text" {
		t.Errorf("after Flush: %q", got)
	}
}

func TestLineHasNoNewline(t *testing.T) {
	if got := sanitize.Line("a\r\nb\u2028c"); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

func TestOrdinaryTextIsNotTouched(t *testing.T) {
	for _, s := range []string{
		"Grüße, 世界! café — “quotes” … ½ € ✓", "naïve Ω λ ≥ →", "```go\nfunc main() {}\n```", "नमस्ते", "ไทย", "שלום עולם", "مرحبا",
	} {
		if got := sanitize.Text(s); got != s {
			t.Errorf("Text(%q) = %q", s, got)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, c := range hostile {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := sanitize.Text(in)
		if !utf8.ValidString(out) {
			t.Errorf("not UTF-8: %q", out)
		}
		if again := sanitize.Text(out); again != out {
			t.Errorf("not idempotent: %q becomes %q", out, again)
		}
		if pieces := inPieces(in, 1); pieces != out {
			t.Errorf("byte by byte %q, at once %q", pieces, out)
		}
		if why := obeyed(out); why != "" {
			t.Errorf("%q became %q, and the terminal %s", in, out, why)
		}
	})
}

func Example() {
	var z sanitize.Sanitizer
	// A clipboard attack that is split between two tokens of a reply.
	fmt.Print(z.Write("Sure!\x1b]52;c;cm0g"))
	fmt.Print(z.Write("LXJm\x07 Here you are."))
	fmt.Println(z.Flush())
	// Output: Sure! Here you are.
}

func TestCopyKeepsTabsAndIsSafeOtherwise(t *testing.T) {
	for _, c := range hostile {
		if got := strings.ReplaceAll(sanitize.Copy(c.in), "\t", "    "); got != c.want {
			t.Errorf("%s: Copy(%q) = %q, want %q with its tabs", c.name, c.in, got, c.want)
		}
	}
	if got := sanitize.Copy("\tif\tx\x1b[2J"); got != "\tif\tx" {
		t.Errorf("got %q", got)
	}
}

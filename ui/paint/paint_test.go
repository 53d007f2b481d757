package paint_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/ui/paint"
	"specula/ui/theme"
)

func TestLineHasItsWidthWhateverIsPut(t *testing.T) {
	for _, cells := range []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth} {
		checkWidths(t, cells)
	}
}

func checkWidths(t *testing.T, cells ansi.Method) {
	t.Helper()
	th, _ := theme.Named("dark", true)
	th.Cells = cells
	texts := []string{"", "a", "日本語", "e\u0301", "1\ufe0f\u20e3 keycap", "👩\u200d👩\u200d👧 family", "⚠\ufe0f 🇩🇪", "a long text that cannot fit anywhere"}
	for w := range 30 {
		for _, first := range texts {
			for _, second := range texts {
				line := paint.NewLine(th, w).Put(th.Accepted, first).Pad(w/3).Put("", second)
				line.Right(th.Label, "right")
				if got := line.String(); cells.StringWidth(got) != w {
					t.Errorf("w=%d %q %q: %d cells in %q", w, first, second, cells.StringWidth(got), got)
				}
			}
		}
	}
}

func TestCutSaysSo(t *testing.T) {
	th, _ := theme.Named("mono", true)
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日… "}, {"ab", 1, "…"}, {"ab", 0, ""},
	} {
		if got := paint.Fit(th, "", c.text, c.w); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	for _, c := range []struct {
		text string
		w, n int
		want []string
	}{
		{"", 9, 3, nil}, {"one", 9, 3, []string{"one"}}, {"one  two three", 9, 3, []string{"one two", "three"}},
		{"×2 · é ok no", 9, 3, []string{"×2 · é ok", "no"}}, // cells, not bytes
		{"one two three four", 5, 2, []string{"one", "two three four"}}, {"unbreakable", 4, 2, []string{"unbreakable"}},
	} {
		if got := paint.Wrap(c.text, c.w, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d, %d) = %q, want %q", c.text, c.w, c.n, got, c.want)
		}
	}
}

func TestRightKeepsADistance(t *testing.T) {
	th, _ := theme.Named("mono", true)
	line := paint.NewLine(th, 8).Put("", "abcd")
	if line.Right("", "wxyz") {
		t.Errorf("right text was put without a space: %q", line)
	}
	if !line.Right("", "xyz") || line.String() != "abcd xyz" {
		t.Errorf("got %q", line)
	}
}

func ExampleLine() {
	th, _ := theme.Named("mono", true)
	line := paint.NewLine(th, 20).Put("", "tokens/s")
	line.Right("", "92.4")
	fmt.Printf("%q\n", line)
	// Output: "tokens/s        92.4"
}

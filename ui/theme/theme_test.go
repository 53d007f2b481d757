package theme_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/theme"
)

var fates = []event.Verdict{"", event.Accepted, event.Rejected, event.Discarded, event.Resampled, event.Bonus, event.Plain}

// Without colour (NO_COLOR makes the renderer strip it) the verdicts still look different, in
// every theme.
func TestFatesDifferWithoutColour(t *testing.T) {
	for _, name := range theme.Names() {
		th, _ := theme.Named(name, true)
		seen := map[string]event.Verdict{}
		for _, v := range fates {
			var out bytes.Buffer
			w := colorprofile.Writer{Forward: &out, Profile: colorprofile.ASCII}
			if _, err := w.WriteString(th.Fate(v).On("x")); err != nil {
				t.Fatal(err)
			}
			if other, taken := seen[out.String()]; taken {
				t.Errorf("%s: %q and %q look the same without colour: %q", name, v, other, out.String())
			}
			seen[out.String()] = v
		}
	}
}

// The colours are those that were measured for contrast and for colour-blind readers.
func TestPalettes(t *testing.T) {
	for _, c := range []struct {
		theme                         string
		accepted, rejected, resampled string
	}{
		{"dark", "38;2;86;180;233", "38;2;232;115;26", "38;2;240;228;66"},
		{"light", "38;2;0;114;178", "38;2;179;79;0", "38;2;158;79;132"},
	} {
		th, _ := theme.Named(c.theme, true)
		want := []theme.Style{theme.Style("\x1b[" + c.accepted + "m"), theme.Style("\x1b[9;" + c.rejected + "m"), theme.Style("\x1b[4;" + c.resampled + "m")}
		for i, got := range []theme.Style{th.Accepted, th.Rejected, th.Resampled} {
			if got != want[i] {
				t.Errorf("%s: style %d is %q, want %q", c.theme, i, got, want[i])
			}
		}
	}
}

// Discarded tokens have one colour in the chat and in the picture of rounds. They are grey, not faint: some
// terminals draw faint text darker, which is more prominent on paper, and some do not know it.
func TestDiscardedTokensHaveOneColour(t *testing.T) {
	for _, name := range []string{"dark", "light"} {
		th, _ := theme.Named(name, true)
		_, bar := th.Shade(theme.Unused)
		if text := strings.Replace(string(th.Discarded), "[3;9;", "[", 1); string(bar) != text {
			t.Errorf("%s: the bar is %q, the text without its line %q", name, bar, text)
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	th, _ := theme.Named("mono", true)
	for _, s := range []theme.Style{th.Strong, th.Label, th.Rule, th.Title, th.Warning, th.Error, th.Graph, th.Draft, th.Mark, th.Accepted, th.Rejected, th.Resampled} {
		if bytes.Contains([]byte(s), []byte("38;")) {
			t.Errorf("style %q has a colour", s)
		}
	}
}

func TestUnknownThemeIsDarkAndSaysSo(t *testing.T) {
	th, ok := theme.Named("neon", false)
	if ok || th.Name != "dark" {
		t.Errorf("got %q, %v", th.Name, ok)
	}
}

func TestGlyphsAreOneCell(t *testing.T) {
	for _, unicode := range []bool{true, false} {
		th, _ := theme.Named("dark", unicode)
		g := th.Glyph
		for _, s := range []string{g.Check, g.Cross, g.Dot, g.Arrow, g.Back, g.Star, g.Space, g.Newline, g.Ellipsis, g.Separator, g.None, g.HRule, g.VRule,
			g.TeeRight, g.TeeLeft, g.Cross4, g.Mark, g.Probe, g.Gamma, g.Times, g.Marker, g.Running, g.Idle} {
			if ansi.StringWidth(s) != 1 {
				t.Errorf("glyph %q is %d cells wide", s, ansi.StringWidth(s))
			}
		}
	}
}

func ExampleNamed() {
	th, _ := theme.Named("mono", true)
	fmt.Printf("%q\n", th.Fate(event.Rejected).On("sat"))
	// Output: "\x1b[9msat\x1b[m"
}

// A word that waits for the target must not look like one of a round without a draft, even where a
// terminal has neither faint nor italic.
func TestPendingWordsHaveAColour(t *testing.T) {
	for _, name := range []string{"dark", "light"} {
		th, _ := theme.Named(name, true)
		if !bytes.Contains([]byte(th.Pending), []byte("38;2;")) {
			t.Errorf("%s: pending words are drawn as %q", name, th.Pending)
		}
	}
}

// Package theme holds the looks of the screen. A [Theme] has one [Style] for each verdict of a
// token, a few for the rest of the screen, and [Glyphs] for terminals with and without Unicode.
//
// Invariant: colour is never the only difference between verdicts. No two of them have the same
// attributes (strike, underline, bold, faint, italic; accepted has none), so that themes stay readable
// with NO_COLOR, in the mono theme, and for readers who see colours differently. Ordinary text has the
// terminal's own foreground and background.
package theme

import (
	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
)

// Style is the escape sequence that switches a look on; "" for none.
type Style string

// Reset ends every style. Styles never nest.
const Reset = ansi.ResetStyle

// On returns text in this style. The text must already be safe.
func (s Style) On(text string) string {
	if s == "" || text == "" {
		return text
	}
	return string(s) + text + Reset
}

// With returns s with the attributes of more added.
func (s Style) With(more Style) Style { return s + more }

// Theme is a set of styles and glyphs. Only Cells may be set after Named.
type Theme struct {
	Name string

	Strong  Style // numbers and headings
	Label   Style // names of numbers, hints: calm
	Rule    Style // lines between panes
	Title   Style // head of a pane
	User    Style // who speaks
	Warning Style
	Error   Style
	Graph   Style // bars: speed with drafts, acceptance, the target's probabilities
	Draft   Style // bars of the draft's probabilities, in the colour of the time for drafting
	Mark    Style // the mark of a changed setting
	Cursor  Style // the selected token

	Accepted, Rejected, Discarded, Resampled, Bonus, Pending, Plain Style

	fills [shades]fill

	Glyph Glyphs
	// Cells is how the terminal counts the cells of an emoji or flag of several code points.
	// ansi.WcWidth, the zero value, adds the cells of the code points. ansi.GraphemeWidth counts the
	// one character that they form; it is right once the terminal has reported mode 2027.
	Cells ansi.Method
}

// Fate returns the style of a token with this verdict. An empty verdict is a pending token.
func (t *Theme) Fate(v event.Verdict) Style {
	switch v {
	case event.Accepted:
		return t.Accepted
	case event.Rejected:
		return t.Rejected
	case event.Discarded:
		return t.Discarded
	case event.Resampled:
		return t.Resampled
	case event.Bonus:
		return t.Bonus
	case event.Plain:
		return t.Plain
	default:
		return t.Pending
	}
}

// Names lists the themes that Named knows.
func Names() []string { return []string{"dark", "light", "mono"} }

// Named returns a theme by name, with Unicode or ASCII glyphs. For an unknown name it returns dark
// and false.
func Named(name string, unicode bool) (*Theme, bool) {
	t := Theme{Glyph: asciiGlyphs}
	if unicode {
		t.Glyph = unicodeGlyphs
	}
	switch name {
	case "dark":
		t.paint(darkPalette)
	case "light":
		t.paint(lightPalette)
	case "mono":
		t.paint(palette{})
	default:
		t.paint(darkPalette)
		t.Name = "dark"
		return &t, false
	}
	t.Name = name
	return &t, true
}

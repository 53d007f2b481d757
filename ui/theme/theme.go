// Package theme holds the looks: one style for every fate a token can have, a few for the rest of the screen, and the
// glyphs for terminals with and without Unicode.
//
// Colour is never the only difference. Every fate has attributes of its own (strike, underline, bold, faint, italic), so the
// themes stay readable with NO_COLOR, in the mono theme and for readers who see colours differently. Neither foreground nor
// background of ordinary text is set: the terminal's own stay.
package theme

import (
	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
)

// Style is the escape sequence that switches a look on; empty for none.
type Style string

// reset ends every style; runs never nest.
const reset = ansi.ResetStyle

// On returns text in this style. The text must be safe already.
func (s Style) On(text string) string {
	if s == "" || text == "" {
		return text
	}
	return string(s) + text + reset
}

// With returns s with the attributes of more added.
func (s Style) With(more Style) Style { return s + more }

// Theme is a set of styles and glyphs. Themes are values; nothing in them changes after Named.
type Theme struct {
	Name string

	Strong  Style // figures and headings
	Label   Style // names of figures, hints: calm
	Rule    Style // lines between panes
	Title   Style // head of a pane
	User    Style // who speaks
	Warning Style
	Error   Style
	Graph   Style // the line of a graph
	Second  Style // the second line or bar beside it
	Cursor  Style // the selected token

	Accepted, Rejected, Discarded, Resampled, Bonus, Pending, Plain Style

	Glyph Glyphs
	// Cells is how the terminal counts the cells of an emoji or a flag that is several code points: one by one, as the zero value
	// does, or as the single character that it is, once the terminal has said so (mode 2027). Who makes a theme sets it.
	Cells ansi.Method
}

// Fate returns the style of a token with this verdict; an empty verdict is a pending token.
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

// Names lists the themes, in the order in which a key steps through them.
func Names() []string { return []string{"dark", "light", "mono"} }

// Named returns a theme by name, with Unicode glyphs or ASCII ones. It reports false, and returns dark, for an unknown name.
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

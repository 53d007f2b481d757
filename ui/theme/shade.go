package theme

import "github.com/charmbracelet/x/ansi"

// Shade is the look of a part of a bar. Without colour, the shades of one picture have different signs.
type Shade int

// The shades. Empty draws nothing.
const (
	Empty    Shade = iota
	Kept           // draft tokens that were kept
	Refused        // the draft token that was refused
	Unused         // draft tokens that were not tested
	Instead        // the token in place of a refused one
	Free           // the bonus token: the target draws it after it has accepted a whole draft
	Own            // the token of a round without a draft
	Drafting       // time for drafting
	Checking       // time for the target's pass
	Other          // the rest of a round's time
	shades
)

// fill is how a theme draws a shade. A frame has a thousand cells with shades, so the styles are made once.
type fill struct {
	sign  string // fills a cell
	style Style
	above [shades]Style // style of a cell with this shade below another one; "" if it cannot be drawn
}

// The signs of the shades, in their order. With colours nearly all signs are solid, because a cell that two
// shades share can only be drawn with solid signs.
var (
	solidSigns = [shades]string{" ", "█", "█", "█", "▀", "▀", "▄", "█", "█", "█"}
	signs      = [shades]string{" ", "█", "▒", "░", "═", "▀", "▄", "▒", "█", "░"}
	asciiSigns = [shades]string{" ", "#", "x", ".", "=", "+", "o", "d", "#", "."}
)

func (t *Theme) fill(p palette) {
	colours := [shades]rgb{0, p.accepted, p.refusedBar, p.discarded, p.resampled, p.freeBar, p.label, p.drafting, p.checking, p.rest}
	for i, below := range colours {
		t.fills[i] = fill{sign: signs[i], style: style(below)}
		switch {
		case !t.Glyph.Unicode:
			t.fills[i].sign = asciiSigns[i]
			continue
		case p != palette{}:
			t.fills[i].sign = solidSigns[i]
		}
		for k, above := range colours {
			if below != 0 && above != 0 {
				t.fills[i].above[k] = Style(ansi.NewStyle().ForegroundColor(below.colour()).BackgroundColor(above.colour()).String())
			}
		}
	}
}

// Shade returns the sign that fills a cell with a shade, and its style.
func (t *Theme) Shade(s Shade) (sign string, in Style) { return t.fills[s].sign, t.fills[s].style }

// Between returns the style of a cell whose lower part has the shade lower and whose upper part the shade
// upper, and whether the theme can draw such a cell. A sign such as ▃ then has the colour of lower, the
// background that of upper.
func (t *Theme) Between(lower, upper Shade) (Style, bool) {
	s := t.fills[lower].above[upper]
	return s, s != ""
}

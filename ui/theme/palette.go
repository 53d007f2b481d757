package theme

import "github.com/charmbracelet/x/ansi"

// rgb is a colour as 0xRRGGBB; 0 is the terminal's own colour.
type rgb uint32

// palette is the colours of a theme. The zero palette is the mono theme.
//
// The colours for accepted, rejected and resampled were chosen for contrast (TestContrast) and for
// distance under normal, deuteranopic, protanopic and tritanopic vision. The dark ones are after Okabe
// and Ito, with a brighter vermilion. label, rule and title are greys of the 256-colour palette, so
// that they stay grey on terminals that have only its colours. discarded is a grey of its own, because
// terminals draw faint text brighter, darker or not at all.
type palette struct {
	accepted, rejected, resampled rgb
	discarded, label, rule        rgb
	title, warning                rgb
	// Colours of parts of bars, in addition to accepted. Parts that may touch differ in brightness.
	refusedBar, freeBar      rgb
	drafting, checking, rest rgb
	pending                  rgb // the hue of drafting, bright enough to be read when faint
}

var darkPalette = palette{
	accepted: 0x56b4e9, rejected: 0xe8731a, resampled: 0xf0e442,
	discarded: 0x8a7474, label: 0x949494, rule: 0x4e4e4e,
	title: 0xd0d0d0, warning: 0xe69f00,
	refusedBar: 0xe8731a, freeBar: 0xb5e3ff,
	drafting: 0xc9a8ff, checking: 0x5f9e75, rest: 0x7f7f7f, pending: 0xc9a8ff,
}

var lightPalette = palette{
	accepted: 0x0072b2, rejected: 0xb34f00, resampled: 0x9e4f84,
	discarded: 0x8c7878, label: 0x626262, rule: 0xbcbcbc,
	title: 0x303030, warning: 0x8a5a00,
	refusedBar: 0xdb7220, freeBar: 0x003f66,
	drafting: 0x9f70e4, checking: 0x3c7d55, rest: 0x5a5a5a, pending: 0x4400c8,
}

func (t *Theme) paint(p palette) {
	mono := p == palette{}
	t.Accepted = style(p.accepted)
	t.Rejected = style(p.rejected, ansi.AttrStrikethrough)
	t.Discarded = style(p.discarded, ansi.AttrItalic, ansi.AttrStrikethrough)
	t.Resampled = style(p.resampled, ansi.AttrUnderline)
	t.Bonus = style(p.accepted, ansi.AttrBold)
	t.Pending = style(p.pending, ansi.AttrFaint)
	t.Plain = style(0, ansi.AttrItalic)

	t.Strong = style(0, ansi.AttrBold)
	t.Title = style(p.title, ansi.AttrBold)
	t.User = style(p.title, ansi.AttrBold)
	t.Label, t.Rule = style(p.label), style(p.rule)
	if mono {
		t.Label, t.Rule = style(0, ansi.AttrFaint), style(0, ansi.AttrFaint)
		t.Discarded = style(0, ansi.AttrFaint, ansi.AttrStrikethrough)
	}
	t.Warning = style(p.warning, ansi.AttrBold)
	t.Error = style(p.rejected, ansi.AttrBold)
	t.Graph, t.Draft, t.Mark = style(p.accepted), style(p.drafting), style(p.resampled)
	t.Cursor = style(0, ansi.AttrReverse)
	t.fill(p)
}

func style(c rgb, attrs ...ansi.Attr) Style {
	s := ansi.NewStyle(attrs...)
	if c != 0 {
		s = s.ForegroundColor(c.colour())
	}
	if len(s) == 0 {
		return ""
	}
	return Style(s.String())
}

func (c rgb) colour() ansi.RGBColor {
	return ansi.RGBColor{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c)}
}

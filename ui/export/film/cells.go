package film

import (
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// cell is a cell as it is painted: colours are resolved, and swapped if the cell is reversed.
type cell struct {
	text  string
	width int // 1, or 2 for a wide character
	look
}

// look is how a cell is painted.
type look struct {
	fore, back                       color.RGBA
	bold, italic, underlined, struck bool
}

// rows parses a frame into its cells.
func (f Film) rows(screen string) [][]cell {
	buffer := uv.NewScreenBuffer(f.W, f.H)
	uv.NewStyledString(strings.ReplaceAll(screen, "\n", "\r\n")).Draw(buffer, buffer.Bounds())
	c := f.colours()
	rows := make([][]cell, f.H)
	for y := range rows {
		for x := 0; x < f.W; {
			out := c.resolve(buffer.CellAt(x, y))
			rows[y] = append(rows[y], out)
			x += max(out.width, 1)
		}
	}
	return rows
}

func (c colours) resolve(in *uv.Cell) cell {
	if in == nil || in.Width == 0 {
		return cell{text: " ", width: 1, look: look{fore: c.fore, back: c.back}}
	}
	s := in.Style
	out := cell{
		text: in.Content, width: in.Width,
		look: look{
			fore: c.of(s.Fg, c.fore), back: c.of(s.Bg, c.back), bold: s.Attrs&uv.AttrBold != 0, italic: s.Attrs&uv.AttrItalic != 0,
			struck: s.Attrs&uv.AttrStrikethrough != 0, underlined: s.Underline != 0,
		},
	}
	if s.Attrs&uv.AttrFaint != 0 {
		out.fore = mix(out.fore, out.back)
	}
	if s.Attrs&uv.AttrReverse != 0 {
		out.fore, out.back = out.back, out.fore
	}
	return out
}

func (c colours) of(in color.Color, own color.RGBA) color.RGBA {
	if in == nil {
		return own
	}
	r, g, b, _ := in.RGBA()
	return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 255}
}

// mix returns the colour of faint text of colour a on b, as terminals draw it.
func mix(a, b color.RGBA) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((5*int(a) + 3*int(b)) / 8) }
	return color.RGBA{R: part(a.R, b.R), G: part(a.G, b.G), B: part(a.B, b.B), A: 255}
}

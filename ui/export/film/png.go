package film

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"github.com/go-fonts/dejavu/dejavusansmonooblique"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// pngScale is the scale of the picture. With 2, it is sharp on a slide.
const pngScale = 2

// PNG writes a picture of the last frame. A character that the font lacks is an empty box.
func (f Film) PNG(w io.Writer) error {
	b := pngBrush{picture: image.NewRGBA(image.Rect(0, 0, pngScale*(f.W*cellW+2*margin), pngScale*(f.H*cellH+2*margin)))}
	for i, ttf := range [][]byte{dejavusansmono.TTF, dejavusansmonobold.TTF, dejavusansmonooblique.TTF} {
		parsed, err := opentype.Parse(ttf)
		if err == nil {
			b.faces[i], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: pngScale * fontSize, DPI: 72, Hinting: font.HintingNone})
		}
		if err != nil {
			return fmt.Errorf("opening the built-in font: %w", err)
		}
	}
	back := f.colours().back
	draw.Draw(b.picture, b.picture.Bounds(), image.NewUniform(back), image.Point{}, draw.Src)
	for y, row := range f.rows(f.Last().Screen) {
		paintRow(&b, row, margin, rowTop(y), back)
	}
	return png.Encode(w, b.picture)
}

// pngBrush paints pixels.
type pngBrush struct {
	picture *image.RGBA
	faces   [3]font.Face // regular, bold, oblique
}

func (b *pngBrush) fill(x, y, w, h float64, c color.RGBA) {
	edge := func(v float64) int { return int(math.Round(v * pngScale)) }
	shade := image.NewUniform(color.NRGBA(c))
	draw.Draw(b.picture, image.Rect(edge(x), edge(y), edge(x+w), edge(y+h)), shade, image.Point{}, draw.Over)
}

func (b *pngBrush) text(x, y float64, cells int, text string, l look) {
	face := b.faces[0]
	switch {
	case l.bold:
		face = b.faces[1]
	case l.italic:
		face = b.faces[2]
	}
	d := font.Drawer{Dst: b.picture, Src: image.NewUniform(l.fore), Face: face}
	runes := []rune(text)
	width := 1.0
	if len(runes) != cells { // a wide character, or one with combining marks
		width = 0
	}
	for i, r := range runes {
		if _, ok := face.GlyphAdvance(r); !ok {
			r = '▯'
		}
		at := pngScale * (x + float64(i)*width*cellW)
		d.Dot = fixed.Point26_6{X: fixed.Int26_6(math.Round(at * 64)), Y: fixed.I(int(pngScale * y))}
		d.DrawString(string(r))
	}
}

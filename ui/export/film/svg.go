package film

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// SVG writes a picture of the last frame. It needs no font of its own: characters keep to their cells
// in any font.
func (f Film) SVG(w io.Writer) error {
	colours := f.colours()
	var b svgBrush
	for y, row := range f.rows(f.Last().Screen) {
		paintRow(&b, row, margin, rowTop(y), colours.back)
	}
	b.flush()
	_, err := io.WriteString(w, f.open("")+b.out.String()+"</svg>\n")
	return err
}

func rowTop(y int) float64 { return float64(margin + y*cellH) }

// open returns the beginning of a picture, with a style sheet.
func (f Film) open(style string) string {
	w, h, c := f.W*cellW+2*margin, f.H*cellH+2*margin, f.colours()
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" xml:space="preserve"><title>%s</title>%s<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n",
		w, h, w, h, fontSize, escape(f.Title), style, hex(c.back))
}

// svgBrush writes SVG elements. It joins successive boxes of one colour to one path, and two successive
// boxes that lie side by side and are equally high to one box.
type svgBrush struct {
	out   strings.Builder
	path  strings.Builder
	paint color.RGBA // the colour of path and box
	box   rectangle  // the last box, not in path yet; width 0: there is none
}

type rectangle struct{ x, y, w, h float64 }

func (b *svgBrush) fill(x, y, w, h float64, c color.RGBA) {
	if c != b.paint {
		b.flush()
		b.paint = c
	}
	if b.box.y == y && b.box.h == h && b.box.x+b.box.w == x {
		b.box.w += w
		return
	}
	b.closeBox()
	b.box = rectangle{x, y, w, h}
}

func (b *svgBrush) closeBox() {
	if o := b.box; o.w > 0 {
		fmt.Fprintf(&b.path, "M%s %sh%sv%sh-%sz", number(o.x), number(o.y), number(o.w), number(o.h), number(o.w))
	}
	b.box = rectangle{}
}

func (b *svgBrush) flush() {
	b.closeBox()
	if b.path.Len() == 0 {
		return
	}
	opacity := ""
	if b.paint.A != 255 {
		opacity = fmt.Sprintf(` fill-opacity="%s"`, number(float64(b.paint.A)/255))
	}
	fmt.Fprintf(&b.out, `<path fill="%s"%s d="%s"/>`, hex(b.paint), opacity, b.path.String())
	b.path.Reset()
}

func (b *svgBrush) text(x, y float64, cells int, text string, l look) {
	b.flush()
	style := ""
	if l.bold {
		style += ` font-weight="bold"`
	}
	if l.italic {
		style += ` font-style="italic"`
	}
	if cells > 1 {
		style += fmt.Sprintf(` textLength="%d"`, cells*cellW)
	}
	fmt.Fprintf(&b.out, `<text x="%s" y="%s" fill="%s"%s>%s</text>`, number(x), number(y), hex(l.fore), style, escape(text))
}

func number(x float64) string { return strconv.FormatFloat(float64(int(x*100+0.5))/100, 'f', -1, 64) }

func escape(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic(err) // cannot happen: a strings.Builder returns no error
	}
	return b.String()
}

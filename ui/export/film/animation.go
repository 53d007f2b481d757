package film

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// maxAnimationBytes limits the size of an animation, because a browser reads all of it.
const maxAnimationBytes = 32 << 20

// lastStays is how long an animation shows its last frame, if the film ends when this frame appears. Without
// that, nobody would see it.
const lastStays = 3 * time.Second

// Animation writes the film as an SVG with CSS animations. It needs no script, so it also plays where a document
// shows it as an image. Users who prefer reduced motion, and programs that do not animate, see the last frame.
func (f Film) Animation(w io.Writer) error {
	pieces, length, err := f.pieces()
	if err != nil {
		return err
	}
	var style, body strings.Builder
	style.WriteString("<style>")
	for n, p := range pieces {
		class, hidden := "", ""
		if !p.always(length) {
			class = fmt.Sprintf(" class=\"a%d\"", n)
			fmt.Fprintf(&style, ".a%d{animation:k%d %ss step-end infinite}@keyframes k%d{%s}", n, n, number(length.Seconds()), n, p.keyframes(length))
		}
		if !p.until(length) {
			hidden = " visibility=\"hidden\""
		}
		fmt.Fprintf(&body, "<g%s%s>%s</g>\n", class, hidden, p.svg)
	}
	style.WriteString("@media(prefers-reduced-motion:reduce){g{animation:none!important}}</style>")
	for _, part := range []string{f.open(style.String()), body.String(), "</svg>\n"} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// piece is a part of a row of the screen as SVG, and the times at which the row shows it.
type piece struct {
	svg   string
	spans []span
}

// span is a time from the beginning of the film; to is -1 while the end is not known.
type span struct{ from, to time.Duration }

// pieces returns all pieces that are seen during the film, in order of appearance, and the length of the
// animation.
func (f Film) pieces() (all []*piece, length time.Duration, err error) {
	known := map[string]*piece{}
	lines := make([]string, f.H)   // the screen, with escape sequences
	shown := make([][]*piece, f.H) // the pieces of each line
	changed := time.Duration(-1)   // when the screen last changed
	bytes := 0
	for frame := range f.Frames {
		length = frame.At
		for y, text := range strings.Split(frame.Screen, "\n") {
			if y >= f.H || text == lines[y] {
				continue
			}
			lines[y], changed = text, frame.At
			var now []*piece
			for _, svg := range f.paintPieces(text, y) {
				p := known[svg]
				if p == nil {
					p = &piece{svg: svg}
					known[svg] = p
					all = append(all, p)
					bytes += len(svg)
				}
				if !slices.Contains(shown[y], p) {
					p.spans = append(p.spans, span{from: frame.At, to: -1})
				}
				now = append(now, p)
			}
			for _, p := range shown[y] {
				if !slices.Contains(now, p) {
					p.spans[len(p.spans)-1].to = frame.At
				}
			}
			shown[y] = now
		}
		if bytes > maxAnimationBytes {
			return nil, 0, fmt.Errorf("the animation has more than %d MB after %v: take a shorter reply, or write a cast", maxAnimationBytes>>20, frame.At.Round(time.Second))
		}
	}
	if changed == length {
		length += lastStays
	}
	for _, p := range all {
		if last := &p.spans[len(p.spans)-1]; last.to < 0 {
			last.to = length
		}
		p.spans = slices.DeleteFunc(p.spans, func(s span) bool { return s.from == s.to })
	}
	return slices.DeleteFunc(all, func(p *piece) bool { return len(p.spans) == 0 }), length, nil
}

// paintPieces paints row y, and returns the SVG of its parts. It cuts the row at vertical lines, because
// the panes on both sides of a line change at different times.
func (f Film) paintPieces(text string, y int) []string {
	one := f
	one.H = 1
	var out []string
	x := float64(margin)
	rest := one.rows(text)[0]
	for len(rest) > 0 {
		end := slices.IndexFunc(rest, func(c cell) bool { return c.text == "│" }) + 1
		if end == 0 {
			end = len(rest)
		}
		var b svgBrush
		paintRow(&b, rest[:end], x, rowTop(y), f.colours().back)
		b.flush()
		if b.out.Len() > 0 && !slices.Contains(out, b.out.String()) {
			out = append(out, b.out.String())
		}
		for _, c := range rest[:end] {
			x += float64(c.width * cellW)
		}
		rest = rest[end:]
	}
	return out
}

// until reports whether the piece is seen at the end of the film.
func (p *piece) until(length time.Duration) bool { return p.spans[len(p.spans)-1].to == length }

func (p *piece) always(length time.Duration) bool {
	return len(p.spans) == 1 && p.spans[0].from == 0 && p.until(length)
}

// keyframes returns CSS keyframes that show and hide the piece, at percentages of the film's length.
func (p *piece) keyframes(length time.Duration) string {
	var b strings.Builder
	put := func(at time.Duration, visibility string) {
		fmt.Fprintf(&b, "%.6g%%{visibility:%s}", 100*at.Seconds()/max(length.Seconds(), 1e-9), visibility)
	}
	if p.spans[0].from > 0 {
		put(0, "hidden")
	}
	for _, s := range p.spans {
		put(s.from, "visible")
		if s.to < length {
			put(s.to, "hidden")
		}
	}
	return b.String()
}

package race

import (
	"fmt"
	"math"

	"specula/ui/paint"
	"specula/ui/theme"
)

// span is a round on the track: when it ended, in milliseconds of its lane's engine time, and how many
// tokens it brought.
type span struct {
	endMS  float64
	tokens int
}

// The cells left and right of a lane's blocks.
const (
	trackName = 22 // largest width of a lane's name
	trackNote = 16 // width of the time of a finished lane
)

// track draws both lanes on one axis of engine time. A block is a round, with the number of its tokens.
// A tall track has two rows for each lane.
func (v *View) track(th *theme.Theme, w int, tall bool) []string {
	name := 0
	for _, l := range v.lanes {
		name = max(name, min(paint.Width(l.name), trackName))
	}
	t := track{th: th, name: name + 2, w: max(w-name-2-trackNote, 1), scaleMS: v.scaleMS()}
	heading := paint.NewLine(th, w).Put(th.Label, " engine time: a block is a round, its number the tokens it gave")
	lines := []string{heading.String()}
	for i, style := range []theme.Style{th.Label, th.Graph} {
		lines = append(lines, t.lane(v.lanes[i], w, style, true))
		if tall {
			lines = append(lines, t.lane(v.lanes[i], w, style, false))
		}
	}
	return append(lines, t.axis(v, w))
}

type track struct {
	th      *theme.Theme
	name, w int     // widths of the names and of the blocks, in cells
	scaleMS float64 // the time that the w cells stand for
}

// scaleMS returns the time that the axis shows. While lanes run it is a round number, so that the scale
// changes seldom.
func (v *View) scaleMS() float64 {
	longest := max(v.lanes[0].count.DecodeMS, v.lanes[1].count.DecodeMS)
	if v.over || longest <= 0 {
		return max(longest, 1e-9)
	}
	power := math.Pow(10, math.Floor(math.Log10(longest)))
	for _, step := range []float64{1, 1.5, 2, 3, 5, 7} {
		if longest <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// column is the cell in which a time lies.
func (t *track) column(ms float64) int { return int(ms / t.scaleMS * float64(t.w)) }

// lane draws one row of a lane's blocks; words is set for its first row, which has words and numbers.
func (t *track) lane(s *side, w int, style theme.Style, words bool) string {
	out := paint.NewLine(t.th, w)
	if words {
		out.Put("", " ").Put("", paint.Fit(t.th, "", s.name, t.name-2))
	}
	out.Pad(t.name)
	at := 0
	for _, r := range s.spans {
		end := min(t.column(r.endMS), t.w)
		if cells := end - at; cells > 0 {
			number := ""
			if words && cells > len(fmt.Sprint(r.tokens)) {
				number = fmt.Sprint(r.tokens)
			}
			t.block(out, cells, number, style)
			at = end
		}
	}
	if words && s.done() {
		out.Put(t.th.Strong, t.th.Glyph.Level+" "+milliseconds(s.count.DecodeMS))
	}
	return out.String()
}

// block draws a round. Its last cell separates it from the next block.
func (t *track) block(out *paint.Line, cells int, number string, style theme.Style) {
	last, fill := "▉", style.With(t.th.Cursor)
	if !t.th.Glyph.Unicode {
		last, fill = "|", style
	}
	before := (cells - 1 - len(number)) / 2
	text := paint.Spaces(before) + number + paint.Spaces(cells-1-before-len(number))
	out.Put(fill, text).Put(style, last)
}

// axis draws the scale, and a mark at the time at which the first lane ended.
func (t *track) axis(v *View, w int) string {
	out := paint.NewLine(t.th, w).Pad(t.name).Put(t.th.Label, "0")
	end := milliseconds(t.scaleMS)
	if first := v.first(); first != nil {
		words, at := t.th.Glyph.Mark+" done first", t.name+t.column(first.count.DecodeMS)
		if at+paint.Width(words)+paint.Width(end)+2 > t.name+t.w {
			words, at = "done first "+t.th.Glyph.Mark, at-paint.Width(words)+1
		}
		if out.Pad(at).Put(t.th.Strong, words); at+paint.Width(words)+paint.Width(end)+2 > t.name+t.w {
			return out.String() // no room for the end of the scale beside the mark
		}
	}
	return out.Pad(t.name+t.w-paint.Width(end)).Put(t.th.Label, end).String()
}

// first returns the lane that is done; if both are, the one that took less time. It returns nil if none
// is done or both took the same time.
func (v *View) first() *side {
	a, b := v.lanes[0], v.lanes[1]
	switch {
	case a.done() && (!b.done() || a.count.DecodeMS < b.count.DecodeMS):
		return a
	case b.done() && (!a.done() || b.count.DecodeMS < a.count.DecodeMS):
		return b
	}
	return nil
}

// done reports whether the lane's reply has ended and had a round.
func (s *side) done() bool { return s.ended && s.count.Rounds > 0 }

package pane

import (
	"cmp"
	"fmt"
	"slices"

	"specula/engine/event"
	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// choice is a token that a model might have taken at one position of a draft.
type choice struct {
	id   int32
	text string
	q, p share
}

// share is a probability. For a token that is not among a model's candidates, only a bound is known.
type share struct {
	v     float64
	known bool
	below bool // the probability is at most v, the probability of the last candidate
}

// choicesAt returns at most n tokens, but at least one, with the probabilities of both models: the inspected
// token t, the token that the target drew instead (drawn, may be nil), and the target's candidates. All but
// t are sorted by p. Without candidates of the target it returns nil.
func choicesAt(t, drawn *state.Token, n int) []choice {
	if len(t.Target) == 0 {
		return nil
	}
	list := []choice{{id: t.ID, text: t.Spelling()}}
	add := func(id int32, text string) {
		if !slices.ContainsFunc(list, func(c choice) bool { return c.id == id }) {
			list = append(list, choice{id: id, text: text})
		}
	}
	if drawn != nil {
		add(drawn.ID, drawn.Spelling())
	}
	for _, c := range t.Target {
		add(c.ID, c.Text)
	}
	for i := range list {
		c := &list[i]
		c.p, c.q = shareOf(t.Target, c.id), shareOf(t.Draft, c.id)
		if len(t.Draft) == 0 && t.Q != nil && *t.Q == 1 {
			c.q = share{known: true} // the draft was certain of another token
		}
	}
	list[0].know(t)
	if drawn != nil && drawn.ID != t.ID {
		list[1].know(drawn)
	}
	// The inspected token stands first here, then the drawn one, so a cut to two tokens keeps them.
	list = list[:min(len(list), max(n, 1))]
	slices.SortStableFunc(list[1:], func(a, b choice) int { return cmp.Compare(b.p.v, a.p.v) })
	return list
}

// know copies p and q from the token if the candidates did not give them.
func (c *choice) know(t *state.Token) {
	for own, said := range map[*share]*float64{&c.p: t.P, &c.q: t.Q} {
		if said != nil && !own.known {
			*own = share{v: *said, known: true}
		}
	}
}

func shareOf(list []event.Candidate, id int32) share {
	if len(list) == 0 {
		return share{}
	}
	for _, c := range list {
		if c.ID == id {
			return share{v: c.P, known: true}
		}
	}
	return share{v: list[len(list)-1].P, below: true}
}

// words formats a share in at most five cells.
func (s share) words(th *theme.Theme) string {
	switch {
	case s.known:
		return short(s.v)
	case s.below && s.v < 0.01:
		return "<.01"
	case s.below:
		return "<" + short(s.v)
	}
	return th.Glyph.None
}

// left is the token's part of the residual: max(0, p−q).
func (c *choice) left() share {
	switch {
	case c.p.known && c.q.known:
		return share{v: max(0, c.p.v-c.q.v), known: true}
	case c.p.known && c.q.below && short(c.p.v) == short(max(0, c.p.v-c.q.v)):
		return share{v: c.p.v, known: true} // q is too small to change p in two decimals
	}
	return share{}
}

// short formats a probability to two decimals, without the 0 before the point.
func short(p float64) string {
	switch {
	case !(p > 0): // also NaN
		return "0"
	case p < 0.005:
		return "<.01"
	case p >= 1:
		return "1"
	case p >= 0.995:
		return ">.99"
	}
	return fmt.Sprintf("%.2f", p)[1:]
}

// The widths of the list, in cells.
const (
	choiceText  = 10                                                  // a token and the gap after it
	choiceCell  = 6                                                   // a probability and the gap before it
	choiceBar   = 6                                                   // the bar after a probability, in the wide form
	choiceDrawn = len(" < drawn")                                     // the mark of the drawn token, in the wide form
	choicesThin = choiceText + 3*choiceCell + 2                       // the least width of the list
	choicesWide = choiceText + 3*(choiceCell+choiceBar) + choiceDrawn // from this width on, it has the wide form
)

// choiceList draws, in h rows of w cells, the draft token t, the token drawn in its place, and other
// candidates of the target. Each has q, p and, if there is a residual, max(0, p−q). drawn is the token that
// the target drew in place of t; nil if t was not refused.
func choiceList(th *theme.Theme, t, drawn *state.Token, r *state.Round, w, h int) []string {
	list := choicesAt(t, drawn, h-1)
	if list == nil || h < 2 || w < choicesThin {
		return nil
	}
	wide, residual := w >= choicesWide, wordsOf(r).Residual && drawn != nil
	names, cell := [3]string{"q", "p", "left"}, choiceCell
	if wide {
		names, cell = [3]string{"draft says", "target says", "is left"}, choiceCell+choiceBar
	}
	if greedy(r) { // these are probabilities of a softmax, from which the target took the best token
		names[0], names[1] = "softmax q", "softmax p"
		if !wide {
			names[0], names[1] = "q", "p"
		}
	}
	if !residual {
		names[2] = ""
	}
	head := paint.NewLine(th, w).Pad(choiceText)
	for i, name := range names {
		head.Pad(choiceText+i*cell+max(1, choiceCell-paint.Width(name))).Put(th.Label, name)
	}
	lines := []string{head.String()}
	for i := range list {
		c := &list[i]
		out := paint.NewLine(th, w)
		style := theme.Style("")
		switch {
		case drawn != nil && c.id == drawn.ID:
			style = th.Resampled
		case c.id == t.ID:
			style = th.Fate(t.Fate)
		}
		putToken(th, out, style, spelled(th, c.text, choiceText-1))
		shares := []share{c.q, c.p}
		if residual {
			shares = append(shares, c.left())
		}
		for k, s := range shares {
			text := s.words(th)
			out.Pad(choiceText+k*cell+choiceCell-paint.Width(text)).Put(th.Strong, text)
			if wide && s.known {
				bar, _ := graph.Bar(s.v, choiceBar-2, !th.Glyph.Unicode)
				out.Put("", " ").Put([]theme.Style{th.Draft, th.Graph, th.Strong}[k], bar)
			}
		}
		if drawn != nil && c.id == drawn.ID {
			mark := " " + th.Glyph.Back
			if wide {
				mark += " drawn"
			}
			out.Pad(choiceText+len(shares)*cell).Put(th.Label, mark)
		}
		lines = append(lines, out.String())
	}
	return lines
}

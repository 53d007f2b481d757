package pane

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/spec"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// The widths of the lane's grid, in cells.
const (
	laneLabel  = 12 // of the names of the rows
	laneGap    = 2  // after each column
	laneColumn = 5  // of a column, at least, so that columns move little when verdicts come
	laneToken  = 14 // of a token's text, at most
	laneRest   = 4  // of the number of tokens that do not fit
)

// laneRow is one row of the columns: its name, and its text for a draft token.
type laneRow struct {
	name string
	cell func(t *state.Token) []piece
}

// rows returns the rows of the columns: the tokens, q, p, the number or token that decides, and the
// verdicts. If there is room for only n = 4 rows, q and p share one. With n = 3, the row that decides is
// left out as well, and with a smaller n so are q and p. A server reports no numbers: only tokens and
// verdicts are left.
func (l *lane) rows(th *theme.Theme, n int) []laneRow {
	q := func(t *state.Token) *float64 { return t.Q }
	p := func(t *state.Token) *float64 { return t.P }
	nameQ, nameP, both := "q draft", "p target", "q p"
	if greedy(l.round) { // q and p of the test would all be 0 or 1
		nameQ, nameP, both = "softmax q", "softmax p", "softmax"
		q = func(t *state.Token) *float64 { return known(shareOf(t.Draft, t.ID)) }
		p = func(t *state.Token) *float64 { return known(shareOf(t.Target, t.ID)) }
	}
	numbers := []laneRow{{nameQ, figures(th, q)}, {nameP, figures(th, p)}}
	decides := l.decides(th)
	rows := []laneRow{{"draft", func(t *state.Token) []piece { return pieces(th, th.Fate(t.Fate), spelled(th, t.Spelling(), laneToken)) }}}
	switch {
	case ofServer(l.round): // a server reports no probabilities
	case n >= 5:
		rows = append(rows, append(numbers, decides)...)
	case n == 4:
		rows = append(rows, laneRow{both, figures(th, q, p)}, decides)
	case n == 3:
		rows = append(rows, laneRow{both, figures(th, q, p)})
	}
	return append(rows, laneRow{"verdict", func(t *state.Token) []piece { return l.verdict(th, t) }})
}

func known(s share) *float64 {
	if !s.known {
		return nil
	}
	return &s.v
}

// figures draws numbers of a token side by side, such as q and p.
func figures(th *theme.Theme, of ...func(*state.Token) *float64) func(*state.Token) []piece {
	return func(t *state.Token) []piece {
		var cell []piece
		for i, f := range of {
			text := th.Glyph.None
			if v := f(t); v != nil {
				text = short(*v)
			}
			style := th.Strong
			if t.Fate == "" || t.Fate == event.Discarded {
				style = th.Label
			}
			if i > 0 {
				text = " " + text
			}
			cell = append(cell, piece{style, fmt.Sprintf("%-4s", text)})
		}
		return cell
	}
}

// decides returns the row that shows how the rule decided about each draft token. If the rule tests
// numbers, such as a uniform, the row shows them. Otherwise it shows the target's own token.
func (l *lane) decides(th *theme.Theme) laneRow {
	words := wordsOf(l.round)
	if words.BelowNumbers != nil {
		var of []func(*state.Token) *float64
		for i := range words.BelowNumbers(spec.Judged{}) {
			of = append(of, func(t *state.Token) *float64 {
				x := words.BelowNumbers(judged(t))[i]
				return known(share{v: x, known: x != spec.Unknown})
			})
		}
		return laneRow{words.Below, figures(th, of...)}
	}
	return laneRow{"target", func(t *state.Token) []piece {
		switch {
		case t.Fate == event.Accepted:
			return pieces(th, th.Label, spelled(th, t.Spelling(), laneToken))
		case t.Fate == event.Rejected && l.commit != nil:
			return pieces(th, th.Label, spelled(th, l.commit.Spelling(), laneToken))
		}
		return []piece{{th.Label, th.Glyph.None}}
	}}
}

// verdict is the sign below a draft token. After the sign of a rejected token stands the token in its
// place. Below the first discarded token stands a word instead of the sign.
func (l *lane) verdict(th *theme.Theme, t *state.Token) []piece {
	sign, style := verdictSign(th, t.Fate), th.Label
	switch t.Fate {
	case event.Accepted:
		style = th.Accepted
	case event.Rejected:
		style = th.Error
		if l.commit != nil {
			return append([]piece{{style, sign}, {th.Label, th.Glyph.Arrow}}, pieces(th, th.Resampled, spelled(th, l.commit.Spelling(), laneToken))...)
		}
	case event.Discarded:
		if l.firstDiscarded() == t {
			sign = "discarded"
		}
	}
	return []piece{{style, sign}}
}

// firstDiscarded is the first token after the refused one; nil if there is none.
func (l *lane) firstDiscarded() *state.Token {
	for i := range l.tokens {
		if l.tokens[i].Fate == event.Discarded {
			return &l.tokens[i]
		}
	}
	return nil
}

// after is what follows the columns in the row of verdicts: a bonus token, or a plain round's token.
func (l *lane) after(th *theme.Theme) []piece {
	c := l.commit
	if c == nil || c.Fate == event.Resampled {
		return nil
	}
	cell := pieces(th, th.Fate(c.Fate), spelled(th, c.Spelling(), laneToken))
	if c.Fate == event.Bonus {
		cell = append([]piece{{th.Label, th.Glyph.Star}}, cell...)
	}
	return cell
}

func widthOf(cell []piece) int {
	w := 0
	for _, p := range cell {
		w += paint.Width(p.text)
	}
	return w
}

// laneCells is a draft token with what stands below it.
type laneCells struct {
	rows  [][]piece
	width int
}

// columns draws the draft tokens side by side, each with its numbers below it, in w cells. If not all
// fit, it draws how many are left out. The token of lookedAt, or else the first one, is never left out.
func (l *lane) columns(th *theme.Theme, w, h int) []string {
	rows := l.rows(th, h)
	out := make([]*paint.Line, len(rows))
	for y := range rows {
		out[y] = paint.NewLine(th, w).Put("", "  ").Put(th.Label, rows[y].name).Pad(laneLabel)
		if len(l.tokens) == 0 && l.commit == nil {
			out[y].Put(th.Label, th.Glyph.None)
		}
	}
	if len(l.tokens) == 0 && l.commit != nil {
		out[0].Put(th.Label, "no draft")
	}
	cells := l.cells(rows)
	after := l.after(th)
	from, to := span(cells, max(l.lookedAt(), 0), w-laneLabel, widthOf(after))
	x := laneLabel
	pad := func(cells int) {
		x += cells
		for y := range out {
			out[y].Pad(x)
		}
	}
	if from > 0 {
		out[0].Put(th.Label, fmt.Sprintf("%s%d", th.Glyph.Star, from))
		pad(laneRest)
	}
	for i := from; i < to; i++ {
		for y, cell := range cells[i].rows {
			for k, p := range cell {
				if y == 0 && i == l.at && k == len(cell)-1 {
					p.style = p.style.With(th.Cursor)
				}
				out[y].Put(p.style, p.text)
			}
		}
		pad(cells[i].width + laneGap)
	}
	if to < len(cells) {
		out[0].Put(th.Label, fmt.Sprintf("%s%d", th.Glyph.Star, len(cells)-to))
		return paint.Strings(out)
	}
	for _, p := range after {
		out[len(out)-1].Put(p.style, p.text)
	}
	return paint.Strings(out)
}

// width is the number of cells that all columns take, with what follows them (after).
func (l *lane) width(th *theme.Theme, h int) int {
	w := laneLabel + widthOf(l.after(th))
	for _, c := range l.cells(l.rows(th, h)) {
		w += c.width + laneGap
	}
	return w
}

func (l *lane) cells(rows []laneRow) []laneCells {
	all := make([]laneCells, len(l.tokens))
	for i := range l.tokens {
		c := laneCells{width: laneColumn}
		for _, row := range rows {
			cell := row.cell(&l.tokens[i])
			c.rows = append(c.rows, cell)
			c.width = max(c.width, widthOf(cell))
		}
		all[i] = c
	}
	return all
}

// span returns which columns to draw in w cells: those with the indices from … to−1. They are as many as
// fit, and the column with the index looked is among them. If the last column is drawn, span leaves as many
// cells free after it as after says.
func span(cells []laneCells, looked, w, after int) (from, to int) {
	fits := func(from, to int) bool {
		need := 0
		for _, c := range cells[from:to] {
			need += c.width + laneGap
		}
		if from > 0 {
			need += laneRest
		}
		if to < len(cells) {
			need += laneRest
		} else {
			need += after
		}
		return need <= w+laneGap
	}
	for from < looked && from < len(cells)-1 && !fits(from, min(looked+1, len(cells))) {
		from++
	}
	for to = len(cells); to > from+1 && !fits(from, to); {
		to--
	}
	return from, max(to, from)
}

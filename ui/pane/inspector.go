package pane

import (
	"fmt"

	"specula/engine/event"
	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Inspector spells out what happened to one token: its numbers, the test, the candidates of both models and its round.
// A ref to a token that is gone draws a hint.
func Inspector(s *state.State, th *theme.Theme, w, h int, ref state.Ref) []string {
	c := column{s: s, th: th, w: w}
	t, round := s.Token(ref)
	if t == nil {
		return paint.Block([]string{c.heading("token", "move the cursor onto a token of the reply", "")}, w, h)
	}
	if round == nil {
		round = &state.Round{}
	}
	lines := append(c.identity(t, round), c.test(t, round)...)
	if room := h - len(lines) - 3; room >= 2 {
		lines = append(lines, c.candidates(t, min(room, 9))...)
	}
	return paint.Block(append(lines, c.roundLines(round)...), w, h)
}

// identity is which token it is, and its fate.
func (c *column) identity(t *state.Token, r *state.Round) []string {
	out := c.line().Put(c.th.Title, "token ")
	putToken(c.th, out, c.th.Fate(t.Fate), spelled(c.th, t.Text, c.w/2))
	fate := string(t.Fate)
	if t.Stop {
		fate += ", stop"
	}
	out.Right(c.th.Strong, fate+" ")
	place := "drawn by the target"
	if t.Position >= 0 {
		place = fmt.Sprintf("draft position %d of %d", t.Position+1, r.Drafted)
	}
	where := c.line().Put(c.th.Label, fmt.Sprintf("id %d  %s  round %d  %s", t.ID, c.th.Glyph.Separator, r.Index, c.th.Glyph.Separator))
	lines := []string{out.String(), where.Put(c.th.Label, " "+place).String()}
	for _, text := range wrapWords(verdictWords(t, r.Temperature == 0), c.w-2, 2) {
		lines = append(lines, c.line().Put("", text).String())
	}
	return lines
}

// test is p, q, their ratio and u, and the acceptance test with the numbers put in.
func (c *column) test(t *state.Token, r *state.Round) []string {
	ratio := c.th.Glyph.None
	if t.P != nil && t.Q != nil && *t.Q > 0 {
		ratio = probability(*t.P / *t.Q)
	}
	lines := []string{
		c.pair("p target", c.known(t.P), "p/q", ratio),
		c.pair("q draft", c.known(t.Q), "u", c.known(t.U)),
	}
	out := c.line().Put(c.th.Label, "test ")
	switch {
	case t.P != nil && t.Q != nil && t.U != nil:
		passed := *t.U**t.Q < *t.P
		sign, relation, style := c.th.Glyph.Check, "<", c.th.Accepted
		if !passed {
			sign, relation, style = c.th.Glyph.Cross, c.notBelow(), c.th.Error
		}
		out.Put("", fmt.Sprintf("u%sq = %s %s p = %s ", c.dot(), probability(*t.U**t.Q), relation, probability(*t.P)))
		out.Put(style, sign)
	case t.Position < 0 || t.Fate == event.Discarded:
		out.Put(c.th.Label, "none: "+untested(t.Fate))
	case r.Temperature == 0 && t.Committed():
		out.Put("", "equal to the target's first choice ").Put(c.th.Accepted, c.th.Glyph.Check)
	case r.Temperature == 0 && t.Fate == event.Rejected:
		out.Put("", "not the target's first choice ").Put(c.th.Error, c.th.Glyph.Cross)
	default:
		out.Put(c.th.Label, c.th.Glyph.None)
	}
	return append(lines, out.String())
}

func untested(v event.Verdict) string {
	if v == event.Discarded {
		return "a token before it ended the round"
	}
	return "drawn from the target itself"
}

func (c *column) known(p *float64) string {
	if p == nil {
		return c.th.Glyph.None
	}
	return probability(*p)
}

func (c *column) dot() string {
	if c.th.Glyph.Unicode {
		return "·"
	}
	return "*"
}

func (c *column) notBelow() string {
	if c.th.Glyph.Unicode {
		return "≥"
	}
	return ">="
}

// candidates draws the best tokens of both models side by side, in rows rows.
func (c *column) candidates(t *state.Token, rows int) []string {
	if len(t.Target) == 0 && len(t.Draft) == 0 {
		return []string{c.line().Put(c.th.Label, "no candidates were collected here").String()}
	}
	half := (c.w - 1) / 2
	head := c.line().Put(c.th.Title, "target's choices").Pad(half+2).Put(c.th.Title, "draft's choices")
	lines := []string{head.String()}
	for i := 0; i < rows-1 && i < max(len(t.Target), len(t.Draft)); i++ {
		out := c.line()
		c.candidate(out, 1, half-1, t.Target, i, t.ID, c.th.Graph)
		c.candidate(out, half+2, c.w-1, t.Draft, i, t.ID, c.th.Second)
		lines = append(lines, out.String())
	}
	return lines
}

// candidate draws entry i between two columns: its text, a bar, its probability. The inspected token is marked.
func (c *column) candidate(out *paint.Line, from, to int, list []event.Candidate, i int, id int32, bar theme.Style) {
	out.Pad(from)
	if i >= len(list) {
		return
	}
	entry := list[i]
	style := theme.Style("")
	if entry.ID == id {
		style = c.th.Strong
	}
	const figureWidth = 7
	textWidth := max((to-from-figureWidth)*3/5, 1)
	putToken(c.th, out, style, spelled(c.th, entry.Text, textWidth))
	out.Pad(from + textWidth + 1)
	if room := to - figureWidth - (from + textWidth + 1); room > 0 {
		drawn, _ := graph.Bar(entry.P, room, !c.th.Glyph.Unicode)
		out.Put(bar, drawn)
	}
	out.Pad(to-figureWidth+1).Put(style, probability(entry.P))
}

// roundLines say how the token's round went.
func (c *column) roundLines(r *state.Round) []string {
	sep := " " + c.th.Glyph.Separator + " "
	path := joinNonEmpty(": ", r.Path, r.PathWhy)
	times := fmt.Sprintf("draft %s%sverify %s%ssample %s", milliseconds(r.DraftMS), sep, milliseconds(r.VerifyMS), sep, milliseconds(r.SampleMS))
	return []string{
		c.line().Put(c.th.Label, path).String(),
		c.line().Put(c.th.Label, times).String(),
	}
}

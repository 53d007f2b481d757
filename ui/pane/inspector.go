package pane

import (
	"fmt"

	"specula/engine/event"
	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Inspector explains one token: its numbers, the test, the candidates of both models, and its round. If
// ref names no token, it draws a hint.
func Inspector(s *state.State, th *theme.Theme, w, h int, ref state.Ref) []string {
	c := column{s: s, th: th, w: w}
	t, round := s.Token(ref)
	if t == nil {
		return paint.Block([]string{c.heading("token", "move the cursor onto a token of the reply", "")}, w, h)
	}
	if round == nil {
		round = &state.Round{}
	}
	if w >= twoColumns {
		return inColumns(s, th, w, h, t, round)
	}
	lines := append(c.identity(t, round), c.test(t, round)...)
	lines = append(lines, c.logprobs(t)...)
	about := c.roundLines(round, h-len(lines))
	if room := h - len(lines) - len(about); room > candidateHead {
		lines = append(lines, c.candidates(t, round, min(room, candidateRows))...)
	}
	return paint.Block(append(lines, about...), w, h)
}

const (
	verdictRows   = 3                 // most rows of the sentence about the verdict
	twoColumns    = 72                // least width in cells for the candidates to be beside the rest
	candidateHead = 2                 // rows above the candidates
	candidateRows = candidateHead + 8 // most rows of the candidates and their heading, if they stand below the rest
)

// inColumns draws the numbers on the left and the candidates on the right, for a wide, low pane.
func inColumns(s *state.State, th *theme.Theme, w, h int, t *state.Token, round *state.Round) []string {
	left := column{s: s, th: th, w: w / 2}
	right := column{s: s, th: th, w: w - w/2}
	numbers := append(left.identity(t, round), left.test(t, round)...)
	numbers = append(numbers, left.logprobs(t)...)
	numbers = paint.Block(append(numbers, left.roundLines(round, h-len(numbers))...), left.w, h)
	choices := paint.Block(right.candidates(t, round, h), right.w, h)
	lines := make([]string, h)
	for y := range lines {
		lines[y] = numbers[y] + choices[y]
	}
	return lines
}

// identity draws the token's text, its fate and its position.
func (c *column) identity(t *state.Token, r *state.Round) []string {
	out := c.line().Put(c.th.Title, "token ")
	putToken(c.th, out, c.th.Fate(t.Fate), spelled(c.th, t.Spelling(), c.w/2))
	fate := fateName(t.Fate)
	if t.Stop {
		fate += ", stop"
	}
	out.Right(c.th.Strong, fate+" ")
	sep := " " + c.th.Glyph.Separator + " "
	where := fmt.Sprintf("round %d", r.Index+1)
	if t.Position >= 0 {
		where += fmt.Sprintf("%sposition %d of %d", sep, t.Position+1, r.Drafted)
	}
	if !t.Untold {
		where += fmt.Sprintf("%sid %d", sep, t.ID)
	}
	lines := []string{out.String(), c.line().Put(c.th.Label, where).String()}
	for _, text := range paint.Wrap(verdictWords(t, r), c.w-2, verdictRows) {
		lines = append(lines, c.line().Put("", text).String())
	}
	return lines
}

// test draws p, q, their ratio and u, and the acceptance test.
func (c *column) test(t *state.Token, r *state.Round) []string {
	if ofServer(r) {
		return c.serverTest(r)
	}
	ratio := c.th.Glyph.None
	if t.P != nil && t.Q != nil && *t.Q > 0 {
		ratio = probability(*t.P / *t.Q)
	}
	lines := []string{
		c.pair("p target", c.known(t.P), "p/q", ratio),
		c.pair("q draft", c.known(t.Q), "u", c.known(t.U)),
	}
	out := c.line().Put(c.th.Label, "test ")
	text, passed := c.testWords(t, r.Rule)
	switch {
	case text != "":
		sign, style := c.th.Glyph.Check, c.th.Accepted
		if !passed {
			sign, style = c.th.Glyph.Cross, c.th.Error
		}
		out.Put("", text).Put(style, sign)
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

// candidates draws the best tokens of both models side by side, in at most rows rows, and says how
// their probabilities were computed.
func (c *column) candidates(t *state.Token, r *state.Round, rows int) []string {
	if ofServer(r) {
		return nil
	}
	if len(t.Target) == 0 && len(t.Draft) == 0 {
		return []string{c.line().Put(c.th.Label, "no candidates here: at full speed only some rounds have them").String()}
	}
	half := (c.w - 1) / 2
	head := c.line().Put(c.th.Title, "target's choices").Pad(half+2).Put(c.th.Title, "draft's choices")
	of := c.line().Put(c.th.Label, targetsOf(r)).Pad(half+2).Put(c.th.Label, draftsOf(t, r))
	lines := []string{head.String(), of.String()}
	for i := 0; i < rows-candidateHead && i < max(len(t.Target), len(t.Draft)); i++ {
		out := c.line()
		c.candidate(out, 1, half-1, t.Target, i, t.ID, c.th.Graph)
		c.candidate(out, half+2, c.w-1, t.Draft, i, t.ID, c.th.Draft)
		lines = append(lines, out.String())
	}
	return lines
}

// plainSoftmax names the probabilities of a model that chose its best token.
const plainSoftmax = "plain softmax"

// targetsOf says how the target's probabilities in the list of candidates were computed.
func targetsOf(r *state.Round) string {
	if r.Temperature == 0 {
		return plainSoftmax
	}
	return atTemperature(r.Temperature)
}

// draftsOf says how the draft's probabilities in the list of candidates were computed. The draft may have
// been drawn at another temperature than the target's, be the best tokens of its model, or be looked up
// without probabilities.
func draftsOf(t *state.Token, r *state.Round) string {
	switch {
	case len(t.Draft) == 0 && t.Q != nil && *t.Q == 1:
		return "certain: q = 1"
	case len(t.Draft) == 0:
		return "none"
	case r.DraftTemperature > 0:
		return atTemperature(r.DraftTemperature)
	case r.Temperature == 0:
		return plainSoftmax
	}
	return "" // an old recording, without the draft's temperature
}

func atTemperature(t float64) string { return fmt.Sprintf("temperature %.3g", t) }

// candidate draws entry i of list between the columns from and to: its text, a bar, its probability. The
// inspected token (id) is in bold.
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
	textWidth := max(min((to-from-figureWidth)*3/5, 14), 1)
	putToken(c.th, out, style, spelled(c.th, entry.Text, textWidth))
	out.Pad(from + textWidth + 1)
	if room := to - figureWidth - (from + textWidth + 1); room > 0 {
		drawn, _ := graph.Bar(entry.P, room, !c.th.Glyph.Unicode)
		out.Put(bar, drawn)
	}
	out.Pad(to-figureWidth+1).Put(style, probability(entry.P))
}

// projected says which distribution a reply with a form has; see docs/constraints.md.
const projected = "masked token by token: the projected distribution, with and without drafts"

// roundLines describes the token's round in at most rows lines. A part that does not fit is left out.
func (c *column) roundLines(r *state.Round, rows int) []string {
	sep := " " + c.th.Glyph.Separator + " "
	var path []string
	for _, text := range paint.Wrap(joinNonEmpty(": ", r.Path, r.PathWhy), c.w-2, 3) {
		path = append(path, c.line().Put(c.th.Label, text).String())
	}
	var expected, distribution []string
	if r.Constraint != "" {
		expected = []string{c.line().Put(c.th.Label, "after it the form expects ").Put("", r.Constraint).String()}
		for _, text := range paint.Wrap(projected, c.w-2, 3) {
			distribution = append(distribution, c.line().Put(c.th.Label, text).String())
		}
	}
	times := fmt.Sprintf("draft %.1f%scheck %.1f%ssample %.1f ms", r.DraftMS, sep, r.VerifyMS, sep, r.SampleMS)
	var lines []string
	for _, part := range [][]string{c.ruleComparison(r), path, expected, {c.line().Put(c.th.Label, times).String()}, distribution} {
		if len(lines)+len(part) <= rows {
			lines = append(lines, part...)
		}
	}
	return lines
}

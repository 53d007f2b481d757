package pane

import (
	"fmt"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Lane draws the round in progress, or the last one: the draft tokens above, the verdict on each below.
// With 3 rows or more, the first is a rule with the round's number, γ and path.
func Lane(s *state.State, th *theme.Theme, w, h int) []string {
	l := laneOf(s)
	var lines []string
	if h > 2 {
		lines = append(lines, l.heading(th, w))
	}
	drafted, verdict := l.rows(th, w)
	lines = append(lines, drafted, verdict)
	if h > 3 {
		lines = append(lines, l.phase(s, th, w))
	}
	if h > 4 {
		lines = append(lines, l.why(th, w))
	}
	return paint.Block(lines, w, h)
}

// lane is the round to draw.
type lane struct {
	tokens []state.Token
	commit *state.Token
	round  *state.Round   // nil before the target has judged
	draft  *state.Pending // nil after it has
	of     *state.State
}

func laneOf(s *state.State) lane {
	if p := s.Pending; p != nil {
		return lane{of: s, tokens: p.Tokens, draft: p}
	}
	if l := s.Last; l != nil && !(s.Busy() && lastReply(s) != s.Reply.Number) { // not a round of the previous reply
		return lane{of: s, tokens: l.Draft, commit: l.Commit, round: &l.Round}
	}
	return lane{}
}

func (l *lane) heading(th *theme.Theme, w int) string {
	out := paint.NewLine(th, w)
	out.Put(th.Rule, th.Glyph.HRule+" ")
	switch {
	case l.draft != nil:
		out.Put(th.Title, fmt.Sprintf("round %d", l.draft.Round))
		putRoundGamma(th, out, l.draft.Gamma, l.draft.Probe)
		out.Put(th.Label, "  "+l.of.ProposerWords(l.draft.Proposer))
	case l.round != nil:
		r := l.round
		out.Put(th.Title, fmt.Sprintf("round %d", r.Index))
		putRoundGamma(th, out, r.Gamma, r.Probe)
		out.Put(th.Label, "  "+r.GammaRule+"  "+r.Path)
		if ruleWords(r.Rule) != "" {
			putRule(th, out.Put("", "  "), r.Rule, "")
		}
		if r.Guidance != 0 {
			out.Put(th.Label, fmt.Sprintf("  guidance %g: %s2 rows", r.Guidance, th.Glyph.Times))
		}
		if len(l.tokens) > 0 && r.Proposer != "draft" {
			out.Put(th.Label, "  "+l.of.ProposerWords(r.Proposer))
		}
		out.Put(th.Label, prefixed("  expects ", r.Constraint))
	default:
		out.Put(th.Title, "speculation")
	}
	out.Put("", " ")
	return out.Put(th.Rule, repeat(th.Glyph.HRule, out.Left())).String()
}

// putRoundGamma draws the γ of a round, and whether the round is a probe.
func putRoundGamma(th *theme.Theme, out *paint.Line, gamma int, probe bool) {
	out.Put(th.Label, fmt.Sprintf("  %s %d", th.Glyph.Gamma, gamma))
	if probe {
		out.Put(th.Warning, " probe")
	}
}

// The lane's grid.
const (
	laneLabel   = 10 // the names of the rows
	laneGap     = 2
	laneColumn  = 5 // least width, so that columns move little when verdicts come
	laneToken   = 14
	laneReplace = 2 // sign and arrow before the token that replaces a rejected one
)

// rows draws the draft tokens and, in the same columns, their verdicts.
func (l *lane) rows(th *theme.Theme, w int) (string, string) {
	top, bottom := paint.NewLine(th, w), paint.NewLine(th, w)
	top.Put("", "  ").Put(th.Label, "draft").Pad(laneLabel)
	bottom.Put("", "  ").Put(th.Label, "target").Pad(laneLabel)
	if len(l.tokens) == 0 && l.commit == nil {
		return top.Put(th.Label, th.Glyph.None).String(), bottom.Put(th.Label, th.Glyph.None).String()
	}
	if len(l.tokens) == 0 {
		top.Put(th.Label, "no draft").Pad(laneLabel)
	}
	x := laneLabel
	for i := range l.tokens {
		t := &l.tokens[i]
		text := spelled(th, t.Text, laneToken)
		cell := max(paint.Width(text), laneColumn)
		replaced := ""
		if t.Fate == event.Rejected && l.commit != nil {
			replaced = spelled(th, l.commit.Text, laneToken)
			cell = max(cell, laneReplace+paint.Width(replaced))
		}
		if x+cell > w-laneGap-1 && i < len(l.tokens)-1 || x+cell > w {
			rest := fmt.Sprintf("%s%d more", th.Glyph.Star, len(l.tokens)-i)
			return top.Put(th.Label, rest).String(), bottom.String()
		}
		putToken(th, top, th.Fate(t.Fate), text)
		bottom.Put(signStyle(th, t.Fate), verdictSign(th, t.Fate))
		if replaced != "" {
			bottom.Put(th.Label, th.Glyph.Arrow)
			putToken(th, bottom, th.Resampled, replaced)
		}
		x += cell + laneGap
		top.Pad(x)
		bottom.Pad(x)
	}
	if c := l.commit; c != nil && c.Fate != event.Resampled {
		if c.Fate == event.Bonus {
			bottom.Put(th.Label, th.Glyph.Star)
		}
		putToken(th, bottom, th.Fate(c.Fate), spelled(th, c.Text, laneToken))
	}
	return top.String(), bottom.String()
}

// signStyle returns the style of a verdict's sign: the colour of the token, not struck out.
func signStyle(th *theme.Theme, v event.Verdict) theme.Style {
	switch v {
	case event.Accepted:
		return th.Accepted
	case event.Rejected:
		return th.Error
	default:
		return th.Label
	}
}

// phase describes the round in words, with its times at the right.
func (l *lane) phase(s *state.State, th *theme.Theme, w int) string {
	out := paint.NewLine(th, w).Put("", "  ")
	arrow := " " + th.Glyph.Arrow + " "
	times := ""
	switch {
	case l.draft != nil && l.draft.Judged:
		out.Put(th.Label, fmt.Sprintf("draft %d%sverify%s", len(l.tokens), arrow, arrow)).Put(th.Strong, "judged")
	case l.draft != nil:
		out.Put(th.Label, fmt.Sprintf("draft %d%s", len(l.tokens), arrow)).Put(th.Strong, "verify"+th.Glyph.Ellipsis)
		times = "draft " + milliseconds(l.draft.DraftMS)
	case l.round != nil:
		out.Put(th.Label, l.outcome(arrow))
		times = fmt.Sprintf("draft %s  verify %s  %s", milliseconds(l.round.DraftMS), milliseconds(l.round.VerifyMS), bytes(float64(l.round.BytesMoved)))
	default:
		out.Put(th.Label, idleWords(s))
	}
	out.Right(th.Label, times+" ")
	return out.String()
}

// outcome describes a judged round: draft 5 → verify → keep 3, resample 1.
func (l *lane) outcome(arrow string) string {
	r := l.round
	if len(l.tokens) == 0 {
		return "no draft" + arrow + "one token from the target"
	}
	text := fmt.Sprintf("draft %d%sverify%skeep %d", len(l.tokens), arrow, arrow, r.Accepted)
	switch {
	case l.commit == nil:
		return text + ", end of the reply"
	case l.commit.Fate == event.Resampled:
		return text + ", resample 1"
	default:
		return text + ", bonus 1"
	}
}

func idleWords(s *state.State) string {
	switch {
	case s.Phase == state.Prefilling:
		return "the first round begins when the prompt has been read"
	case s.Phase == state.Drafting:
		return "the first round is under way"
	default:
		return "the rounds of the next reply are shown here"
	}
}

// why draws the reasons for the path, the draft, the proposer, γ and an early end of the draft, as far
// as they fit.
func (l *lane) why(th *theme.Theme, w int) string {
	out := paint.NewLine(th, w-1).Put("", "  ")
	if l.round == nil {
		return out.String() + " "
	}
	sep := "  " + th.Glyph.Separator + "  "
	text := joinNonEmpty(": ", l.round.Path, l.round.PathWhy)
	for _, why := range []string{l.round.DraftWhy, l.round.ProposerWhy, l.round.GammaWhy, l.round.DraftStop} {
		if longer := joinNonEmpty(sep, text, why); paint.Width(longer) <= out.Left() {
			text = longer // a reason is given whole or not at all
		}
	}
	return out.Put(th.Label, text).String() + " "
}

package pane

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// spelled returns a token's text with visible white space, cut to w cells.
func spelled(th *theme.Theme, text string, w int) string {
	text = strings.ReplaceAll(text, "\n", th.Glyph.Newline)
	text = strings.ReplaceAll(text, " ", th.Glyph.Space)
	if first, _ := utf8.DecodeRuneInString(text); text == "" || unicode.In(first, unicode.Mn, unicode.Me, unicode.Cf) {
		text = th.Glyph.None + text // a combining mark at the start would join the cell before it
	}
	if paint.Width(text) <= w {
		return text
	}
	return strings.TrimRight(paint.Fit(th, "", text, w), " ")
}

// putToken draws a spelled token.
func putToken(th *theme.Theme, out *paint.Line, style theme.Style, text string) {
	for _, p := range pieces(th, style, text) {
		out.Put(p.style, p.text)
	}
}

// piece is text in one style; one or more make up a cell of the lane.
type piece struct {
	style theme.Style
	text  string
}

// pieces gives a spelled token its style. The sign for a leading space becomes a piece of its own, in the
// style of dividing lines, unless nothing follows it.
func pieces(th *theme.Theme, style theme.Style, text string) []piece {
	if rest, ok := strings.CutPrefix(text, th.Glyph.Space); ok && rest != "" {
		return []piece{{th.Rule, th.Glyph.Space}, {style, rest}}
	}
	return []piece{{style, text}}
}

// verdictSign returns the sign under a draft token.
func verdictSign(th *theme.Theme, v event.Verdict) string {
	switch v {
	case event.Accepted:
		return th.Glyph.Check
	case event.Rejected:
		return th.Glyph.Cross
	case event.Discarded:
		return th.Glyph.Dot
	default:
		return th.Glyph.Ellipsis
	}
}

// verdictWords says what happened to a token and why, for someone who sees speculation for the first time.
func verdictWords(t *state.Token, r *state.Round) string {
	why := wordsOf(r)
	switch t.Fate {
	case event.Accepted:
		return "Kept: " + why.Accepted
	case event.Rejected:
		return "Refused: " + why.Rejected
	case event.Discarded:
		return "Discarded: drafted after a refusal or the end; never tested, it counts for nothing."
	case event.Resampled:
		return "Instead: " + why.Replaced
	case event.Bonus:
		return "Free: every draft token was kept, and the same pass gave one more from the target."
	case event.Plain:
		return "No draft: drawn from the target in a round without a draft."
	default:
		return "Unchecked: drafted, the target has not judged it yet."
	}
}

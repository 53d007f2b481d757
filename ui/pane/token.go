package pane

import (
	"strings"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// spelled is a token's text with its white space made visible, at most w cells wide.
func spelled(th *theme.Theme, text string, w int) string {
	text = strings.ReplaceAll(text, "\n", th.Glyph.Newline)
	text = strings.ReplaceAll(text, " ", th.Glyph.Space)
	if text == "" {
		text = th.Glyph.None
	}
	if paint.Width(text) <= w {
		return text
	}
	return strings.TrimRight(paint.Fit(th, "", text, w), " ")
}

// putToken draws a spelled token, the sign for a leading space in a calmer style than the rest.
func putToken(th *theme.Theme, out *paint.Line, style theme.Style, text string) {
	if rest, ok := strings.CutPrefix(text, th.Glyph.Space); ok && rest != "" {
		out.Put(th.Rule, th.Glyph.Space)
		text = rest
	}
	out.Put(style, text)
}

// verdictSign is the sign under a drafted token.
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
func verdictWords(t *state.Token, greedy bool) string {
	switch t.Fate {
	case event.Accepted:
		if greedy {
			return "Accepted: it is the target's first choice."
		}
		return "Accepted: the test passed, so the token is as good as drawn from the target."
	case event.Rejected:
		if greedy {
			return "Rejected: the target's first choice is another token."
		}
		return "Rejected: the draft liked it more than the target does, and the test failed."
	case event.Discarded:
		return "Discarded: drafted behind a rejection or the end, never tested; it counts for nothing."
	case event.Resampled:
		if greedy {
			return "Resampled: the target's first choice, in place of the rejected token."
		}
		return "Resampled: drawn from max(0, p-q) in place of the rejected token."
	case event.Bonus:
		return "Bonus: every draft token was kept, and the same pass gave one more from the target."
	case event.Plain:
		return "Plain: drawn from the target in a round without a draft."
	default:
		return "Pending: drafted, the target has not judged it yet."
	}
}

package pane

import (
	"fmt"
	"strings"

	"specula/engine/event"
	"specula/ui/state"
	"specula/ui/theme"
)

// sentence says in one line what happens in the round, or which numbers decided about the token that is
// looked at (looked). The result may have further, shorter texts, for less room.
func (l *lane) sentence(th *theme.Theme) []string {
	arrow := " " + th.Glyph.Arrow + " "
	switch {
	case l.draft != nil:
		return []string{fmt.Sprintf("draft %d%scheck%s", len(l.tokens), arrow, th.Glyph.Ellipsis)}
	case l.round == nil:
		return []string{idleWords(l.of)}
	case ofServer(l.round) && l.at < 0:
		return serverSentence(l.round)
	case len(l.tokens) == 0:
		return []string{"no draft" + arrow + "one token from the target"}
	case l.at >= len(l.tokens) && l.commit != nil && l.commit.Fate == event.Resampled:
		return []string{l.source(th)}
	}
	if t := l.looked(); t != nil {
		return []string{decision(th, t, l.round, l.commit), verdictWord(t)}
	}
	kept := fmt.Sprintf("all %d kept", len(l.tokens))
	switch {
	case l.commit == nil && l.round.Accepted < len(l.tokens):
		return []string{fmt.Sprintf("%d kept, then the reply ends", l.round.Accepted)}
	case l.commit == nil:
		return []string{kept + ", and the reply ends"}
	}
	return []string{kept + ": the same pass gives one token more", kept + ", and one token more"}
}

// source says where the token in place of a refused one comes from.
func (l *lane) source(th *theme.Theme) string {
	return spelled(th, l.commit.Spelling(), laneToken) + ": " + strings.ReplaceAll(wordsOf(l.round).Source, "−", minus(th))
}

func minus(th *theme.Theme) string {
	if th.Glyph.Unicode {
		return "−"
	}
	return "-"
}

// verdictWord says what became of a draft token.
func verdictWord(t *state.Token) string {
	switch t.Fate {
	case event.Accepted:
		return "kept"
	case event.Rejected:
		return "refused"
	case event.Discarded:
		return "discarded"
	}
	return "unchecked: the target has not judged it yet"
}

// decision says with numbers why a draft token was kept or refused. drawn is the token that the target
// drew in the round, or nil.
func decision(th *theme.Theme, t *state.Token, r *state.Round, drawn *state.Token) string {
	verdict := verdictWord(t)
	switch t.Fate {
	case event.Rejected, event.Accepted:
	case event.Discarded:
		return verdict + ": a token before it ended the round"
	default:
		return verdict
	}
	other := "another token"
	if t.Fate == event.Rejected && drawn != nil {
		other = spelled(th, drawn.Spelling(), laneToken)
	}
	words, numbers := wordsOf(r), judged(t)
	if words.Decision == nil {
		return verdict
	}
	format, x, y := words.Decision(numbers, t.Fate == event.Accepted)
	format = strings.NewReplacer("{token}", other, "{u}", spoken(numbers.U), "{q}", spoken(numbers.Q), "×", th.Glyph.Times).Replace(format)
	if words.Numbers == nil {
		return format + verdict
	}
	if _, known := words.Numbers(numbers); !known {
		return verdict
	}
	return compared(x, y, format) + verdict
}

// compared fills format with three texts: the number a, then "above", "below" or "not below", then the
// number b. If a and b differ, it uses as many digits as are needed to show the difference.
func compared(a, b float64, format string) string {
	relation := "above"
	switch {
	case a < b:
		relation = "below"
	case a == b:
		relation = "not below"
	}
	left, right := spoken(a), spoken(b)
	for digits := 3; left == right && a != b && digits <= 4; digits++ {
		left, right = digitsOf(a, digits), digitsOf(b, digits)
	}
	for digits := 1; left == right && a != b && digits <= 16; digits++ { // 16 digits after the point tell any two numbers apart
		left, right = fmt.Sprintf("%.*e", digits, a), fmt.Sprintf("%.*e", digits, b)
	}
	return fmt.Sprintf(format, left, relation, right)
}

// spoken formats a probability for a sentence: to two decimals, near 0 to three.
func spoken(p float64) string {
	switch {
	case p >= 0.005 && p < 0.995 || !(p > 0) || p >= 1:
		return short(p)
	case p < 0.0005:
		return "<.001"
	case p >= 0.995:
		return "1.00"
	}
	return digitsOf(p, 3)
}

func digitsOf(p float64, digits int) string {
	return strings.TrimPrefix(fmt.Sprintf("%.*f", digits, p), "0")
}

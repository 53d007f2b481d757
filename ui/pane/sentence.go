package pane

import (
	"fmt"
	"strings"

	"specula/engine/event"
	"specula/ui/state"
	"specula/ui/theme"
)

// sentence says in one line what happens in the round, or which numbers decided about the token that is
// looked at, or else about the refused one.
func (l *lane) sentence(th *theme.Theme) string {
	arrow := " " + th.Glyph.Arrow + " "
	switch {
	case l.draft != nil:
		return fmt.Sprintf("draft %d%sverify%s", len(l.tokens), arrow, th.Glyph.Ellipsis)
	case l.round == nil:
		return idleWords(l.of)
	case len(l.tokens) == 0:
		return "no draft" + arrow + "one token from the target"
	case l.at >= len(l.tokens) && l.commit != nil && l.commit.Fate == event.Resampled:
		return l.source(th)
	}
	if t := l.looked(); t != nil {
		return decision(th, t, l.round, l.commit)
	}
	kept := fmt.Sprintf("all %d kept", len(l.tokens))
	switch {
	case l.commit == nil && l.round.Accepted < len(l.tokens):
		return fmt.Sprintf("%d kept, then the reply ends", l.round.Accepted)
	case l.commit == nil:
		return kept + ", and the reply ends"
	}
	return kept + ": the same pass gives one token more"
}

// source says where the token in place of a refused one comes from.
func (l *lane) source(th *theme.Theme) string {
	words := spelled(th, l.commit.Text, laneToken) + ": "
	switch testOf(l.round) {
	case greedily:
		return words + "the target's first choice"
	case ruleExact:
		return words + "what the target drew"
	case ruleTypical:
		return words + "drawn from the target"
	case ruleBlock:
		return words + "drawn from what the block left"
	}
	return words + "drawn from what is left, max(0, p " + minus(th) + " q)"
}

func minus(th *theme.Theme) string {
	if th.Glyph.Unicode {
		return "−"
	}
	return "-"
}

// decision says with numbers why a draft token was kept or refused. drawn is the token that the target
// drew in the round, or nil.
func decision(th *theme.Theme, t *state.Token, r *state.Round, drawn *state.Token) string {
	verdict := "kept"
	switch t.Fate {
	case event.Rejected:
		verdict = "refused"
	case event.Discarded:
		return "never tested: a token before it ended the round"
	case event.Accepted:
	default:
		return "not judged yet"
	}
	other := "another token"
	if t.Fate == event.Rejected && drawn != nil {
		other = spelled(th, drawn.Text, laneToken)
	}
	switch rule := testOf(r); {
	case rule == greedily && t.Fate == event.Accepted:
		return "the target's first choice: " + verdict
	case rule == greedily:
		return "the target's first choice is " + other + ": " + verdict
	case rule == ruleExact && t.Fate == event.Accepted:
		return "the target drew it, too: " + verdict
	case rule == ruleExact:
		return "the target drew " + other + ": " + verdict
	case rule == ruleBlock && t.U != nil && t.Bound != nil:
		return blockWords(t, verdict)
	case rule == ruleTypical && t.P != nil && t.Bound != nil:
		return compared(*t.P, *t.Bound, "p = %s is %s the bound %s: ") + verdict
	case rule == ruleToken && t.P != nil && t.Q != nil && t.U != nil && *t.Q == 1:
		return "looked up, so q = 1: " + compared(*t.U, *t.P, "u = %s is %s p = %s: ") + verdict
	case rule == ruleToken && t.P != nil && t.Q != nil && t.U != nil:
		product := short(*t.U) + " " + th.Glyph.Times + " " + short(*t.Q)
		return compared(*t.U**t.Q, *t.P, product+" = %s is %s %s: ") + verdict
	}
	return verdict
}

// blockWords says what the rule block found at a token: whether the block may end with it. It is kept
// if the block may end here or at a later token.
func blockWords(t *state.Token, verdict string) string {
	switch ends := *t.U < *t.Bound; {
	case ends:
		return compared(*t.U, *t.Bound, "u = %s is %s h = %s, so the block may end here: ") + verdict
	case t.Fate == event.Accepted:
		return compared(*t.U, *t.Bound, "u = %s is %s h = %s, but the block may end later: ") + verdict
	}
	return compared(*t.U, *t.Bound, "u = %s is %s h = %s, nor may it end later: ") + verdict
}

// compared fills format with a, how it lies to b, and b. It takes as many digits as show the difference.
func compared(a, b float64, format string) string {
	relation := "above"
	switch {
	case a < b:
		relation = "below"
	case a == b:
		relation = "not below"
	}
	left, right := short(a), short(b)
	for digits := 3; left == right && a != b && digits <= 4; digits++ {
		left, right = digitsOf(a, digits), digitsOf(b, digits)
	}
	if left == right && a != b {
		left, right = fmt.Sprintf("%.1e", a), fmt.Sprintf("%.1e", b)
	}
	return fmt.Sprintf(format, left, relation, right)
}

func digitsOf(p float64, digits int) string {
	return strings.TrimPrefix(fmt.Sprintf("%.*f", digits, p), "0")
}

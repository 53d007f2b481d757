package pane

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// The rules of acceptance, as in the setting speculation.acceptance.
const (
	ruleToken   = "token"
	ruleBlock   = "block"
	ruleExact   = "exact"
	ruleTypical = "typical-lossy"
)

// ruleWords names a rule other than token; for token it returns "".
func ruleWords(rule string) string {
	switch {
	case rule == "" || rule == ruleToken:
		return ""
	case isLossy(rule):
		return "lossy: " + strings.TrimSuffix(rule, "-lossy") + " acceptance"
	default:
		return rule + " acceptance"
	}
}

func isLossy(rule string) bool { return !slices.Contains(config.LosslessRules(), rule) }

// ruleStyle is the style of a rule's name: a lossy rule is drawn as a warning.
func ruleStyle(th *theme.Theme, rule string) theme.Style {
	if isLossy(rule) {
		return th.Warning
	}
	return th.Label
}

// putRule draws the name of a rule other than token, followed by gap.
func putRule(th *theme.Theme, out *paint.Line, rule, gap string) {
	if words := ruleWords(rule); words != "" {
		out.Put(ruleStyle(th, rule), words).Put("", gap)
	}
}

// testOf names the rule that decided in a round. At temperature 0 all rules are the same.
func testOf(r *state.Round) string {
	switch {
	case r != nil && r.Temperature == 0:
		return greedily
	case r == nil || r.Rule == "":
		return ruleToken
	}
	return r.Rule
}

// testWords returns the test that decided about a token, with its numbers, and whether it passed. It
// returns "" if there was no test or its numbers are unknown.
func (c *column) testWords(t *state.Token, rule string) (text string, passed bool) {
	relation := func(less bool) string {
		if less {
			return "<"
		}
		return c.notBelow()
	}
	switch {
	case t.Position < 0:
	case rule == ruleExact && t.Committed():
		return "the target drew the same token ", true
	case rule == ruleExact && t.Fate == event.Rejected:
		return "the target drew another token ", false
	case rule == ruleBlock && t.U != nil && t.Bound != nil:
		passed = *t.U < *t.Bound
		return fmt.Sprintf("the block may end here: u = %s %s h = %s ", probability(*t.U), relation(passed), probability(*t.Bound)), passed
	case rule == ruleTypical && t.P != nil && t.Bound != nil:
		less := *t.Bound < *t.P
		return fmt.Sprintf("bound %s %s p = %s ", probability(*t.Bound), relation(less), probability(*t.P)), less
	case (rule == "" || rule == ruleToken) && t.P != nil && t.Q != nil && t.U != nil:
		passed = *t.U**t.Q < *t.P
		return fmt.Sprintf("u%sq = %s %s p = %s ", c.dot(), probability(*t.U**t.Q), relation(passed), probability(*t.P)), passed
	}
	return "", false
}

// ruleComparison draws how many draft tokens of the round each rule would have kept. Names are short,
// so that four fit into the side column.
func (c *column) ruleComparison(r *state.Round) []string {
	if len(r.Rules) == 0 {
		return nil
	}
	out := c.line().Put(c.th.Label, "kept")
	for _, rule := range r.Rules {
		name, style := rule.Rule, c.th.Label
		if rule.Lossy {
			name, style = "lossy", c.th.Warning
		}
		out.Put(style, " "+name+" ")
		if rule.Rule == r.Rule {
			style = c.th.Strong
		}
		out.Put(style, fmt.Sprint(rule.Accepted))
	}
	return []string{out.String()}
}

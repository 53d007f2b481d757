package pane

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/spec"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// ruleWords names a rule other than token; for token it returns "".
func ruleWords(rule string) string {
	switch {
	case rule == "" || rule == string(spec.Token):
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

// wordsOf returns the words of the rule that decided in a round. At temperature 0 all rules decide alike
// and have the same words.
func wordsOf(r *state.Round) spec.RuleWords {
	switch {
	case r == nil:
		return spec.WordsOf("")
	case ofServer(r):
		return serverWords
	case greedy(r):
		return greedyWords
	}
	return spec.WordsOf(r.Rule)
}

// greedy reports whether a round took the target's first choices, without a test.
func greedy(r *state.Round) bool { return r != nil && r.Temperature == 0 }

// greedyWords are the words of every rule at temperature 0.
var greedyWords = spec.RuleWords{
	Accepted: "it is the target's first choice.",
	Rejected: "the target's first choice is another token.",
	Replaced: "the target's first choice, in place of the rejected token.",
	Source:   "the target's first choice",
	Decision: func(_ spec.Judged, accepted bool) (string, float64, float64) {
		if accepted {
			return "the target's first choice: ", 0, 0
		}
		return "the target's first choice is {token}: ", 0, 0
	},
}

// testWords describes a token's own test, with its numbers if the rule compares numbers, and returns whether
// the token passed. It returns "" if there was no test or one of these numbers is unknown.
func (c *column) testWords(t *state.Token, rule string) (text string, passed bool) {
	words := spec.WordsOf(rule)
	switch {
	case t.Position < 0:
	case words.Numbers != nil:
		test, ok := words.Numbers(judged(t))
		if !ok {
			return "", false
		}
		relation := c.notBelow()
		if passed = test.Left < test.Right; passed {
			relation = "<"
		}
		left, right := strings.ReplaceAll(test.LeftWords, "·", c.dot()), test.RightWords
		return left + probability(test.Left) + " " + relation + " " + right + probability(test.Right) + " ", passed
	case words.Passed != "" && t.Committed():
		return words.Passed + " ", true
	case words.Failed != "" && t.Fate == event.Rejected:
		return words.Failed + " ", false
	}
	return "", false
}

// judged returns the numbers that decided about a token, for the words of its rule.
func judged(t *state.Token) spec.Judged {
	number := func(x *float64) float64 {
		if x == nil {
			return spec.Unknown
		}
		return *x
	}
	return spec.Judged{P: number(t.P), Q: number(t.Q), U: number(t.U), Bound: number(t.Bound)}
}

// ruleComparison draws how many draft tokens of the round each rule would have kept. A lossy rule is
// called lossy, so that all rules fit into the side column.
func (c *column) ruleComparison(r *state.Round) []string {
	if len(r.Rules) == 0 {
		return nil
	}
	width := 0
	for _, rule := range r.Rules {
		width += len(fmt.Sprintf(" %s %d", ruleName(rule), rule.Accepted))
	}
	out := c.line()
	out.Put(c.th.Label, longestThatFits(out.Left()-width, "kept by rule:", "by rule:", "kept"))
	for _, rule := range r.Rules {
		style := c.th.Label
		if rule.Lossy {
			style = c.th.Warning
		}
		out.Put(style, " "+ruleName(rule)+" ")
		if rule.Rule == r.Rule {
			style = c.th.Strong
		}
		out.Put(style, fmt.Sprint(rule.Accepted))
	}
	return []string{out.String()}
}

func ruleName(r event.RuleOutcome) string {
	if r.Lossy {
		return "lossy"
	}
	return r.Rule
}

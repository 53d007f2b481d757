package spec

import "slices"

// RuleWords are the texts with which the screen explains a rule at a temperature above 0.
type RuleWords struct {
	// Accepted and Rejected say why a draft token was accepted or rejected. Replaced says where the
	// token in place of a rejected one comes from. Source is a shorter form of Replaced.
	Accepted, Rejected, Replaced, Source string
	// Numbers returns the comparison that a token was tested by, and false if one of its numbers is not
	// known. A rule that compares tokens has no numbers: Numbers and BelowNumbers are nil, Below is empty,
	// and Passed and Failed say how the comparison of tokens went.
	Numbers        func(t Judged) (Comparison, bool)
	Passed, Failed string
	// Below names the numbers that the screen shows under a draft token's q and p. BelowNumbers
	// returns these numbers.
	Below        string
	BelowNumbers func(t Judged) []float64
	// Decision describes the test in a sentence, to which the screen adds the verdict. If Numbers is set, the
	// format has three %s. The first stands for a, the second for one of the words «above», «below» and «not
	// below», the third for b. {u} and {q} stand for the token's u and q, {token} for what the target drew.
	Decision func(t Judged, accepted bool) (format string, a, b float64)
	// Residual: the token in place of a rejected one is drawn from max(0, p − q).
	Residual bool
}

// Comparison is the test of a draft token: the token passes if Left < Right. LeftWords goes before Left,
// RightWords before Right.
type Comparison struct {
	LeftWords  string
	Left       float64
	RightWords string
	Right      float64
}

// WordsOf returns the texts of a rule; "" is the rule token. For a name that is not in the register, as
// in a trace of another version, the texts do not describe the test.
func WordsOf(rule string) RuleWords {
	for _, r := range Rules {
		if string(r.Rule) == rule || rule == "" && r.Rule == Token {
			return r.Words
		}
	}
	return RuleWords{
		Accepted: "its rule accepts it.",
		Rejected: "its rule rejects it.",
		Replaced: "drawn in place of the rejected token.",
		Source:   "drawn in place of the rejected token",
	}
}

var tokenWords = RuleWords{
	Accepted: "it passed the test, so it counts as the target's own.",
	Rejected: "the draft liked it more than the target does, and the test failed.",
	Replaced: "drawn from max(0, p-q) in place of the rejected token.",
	Source:   "drawn from what is left, max(0, p − q)",
	Residual: true,
	Numbers: func(t Judged) (Comparison, bool) {
		return Comparison{"u·q = ", t.U * t.Q, "p = ", t.P}, known(t.U, t.Q, t.P)
	},
	Below:        "u drawn",
	BelowNumbers: func(t Judged) []float64 { return []float64{t.U} },
	Decision: func(t Judged, _ bool) (string, float64, float64) {
		if t.Q == 1 {
			return "q is 1, so u = %s is %s p = %s: ", t.U, t.P
		}
		return "{u} × {q} = %s is %s %s: ", t.U * t.Q, t.P
	},
}

var blockWords = RuleWords{
	Accepted: "the block was kept up to here or further, so it counts as the target's own.",
	Rejected: "no test passed here or further on, so the block ends before it.",
	Replaced: "drawn from max(0, wp-q), which is what the block left.",
	Source:   "drawn from what the block left",
	Numbers: func(t Judged) (Comparison, bool) {
		return Comparison{"the block may end here: u = ", t.U, "h = ", t.Bound}, known(t.U, t.Bound)
	},
	Below:        "u h",
	BelowNumbers: func(t Judged) []float64 { return []float64{t.U, t.Bound} },
	// A token is kept if the block may end with it or with a later one.
	Decision: func(t Judged, accepted bool) (string, float64, float64) {
		switch {
		case t.U < t.Bound:
			return "u = %s is %s h = %s, so the block may end here: ", t.U, t.Bound
		case accepted:
			return "u = %s is %s h = %s, but the block may end later: ", t.U, t.Bound
		}
		return "u = %s is %s h = %s, nor may it end later: ", t.U, t.Bound
	},
}

var exactWords = RuleWords{
	Accepted: "the target drew the same token.",
	Rejected: "the target drew another token.",
	Replaced: "what the target drew in place of the rejected token.",
	Source:   "what the target drew",
	Passed:   "the target drew the same token",
	Failed:   "the target drew another token",
	Decision: func(_ Judged, accepted bool) (string, float64, float64) {
		if accepted {
			return "the target drew it, too: ", 0, 0
		}
		return "the target drew {token}: ", 0, 0
	},
}

var typicalWords = RuleWords{
	Accepted: "the target finds it likely enough. This rule is lossy: it changes the target's distribution.",
	Rejected: "the target finds it too unlikely.",
	Replaced: "drawn from the target in place of the rejected token.",
	Source:   "drawn from the target",
	Numbers: func(t Judged) (Comparison, bool) {
		return Comparison{"bound ", t.Bound, "p = ", t.P}, known(t.Bound, t.P)
	},
	Below:        "bound",
	BelowNumbers: func(t Judged) []float64 { return []float64{t.Bound} },
	Decision: func(t Judged, _ bool) (string, float64, float64) {
		return "p = %s is %s the bound %s: ", t.P, t.Bound
	},
}

func known(numbers ...float64) bool { return !slices.Contains(numbers, Unknown) }

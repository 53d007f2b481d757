package spec

import "specula/engine/sample"

// Rule names an acceptance rule: a value of the setting speculation.acceptance. The empty one is Token.
type Rule string

// The acceptance rules. All but the last keep the target's distribution. At temperature 0 all keep it and are the same.
const (
	Token        Rule = "token"         // accepts each draft token with probability p/q, until one is rejected
	Block        Rule = "block"         // judges the draft as a whole, and accepts at least as many
	ExactMatch   Rule = "exact"         // accepts what the target itself draws
	TypicalLossy Rule = "typical-lossy" // accepts what is probable enough
)

// Rules lists all rules.
var Rules = [...]Rule{Token, Block, ExactMatch, TypicalLossy}

// Lossy reports whether a rule changes the distribution of the text.
func (r Rule) Lossy() bool { return r == TypicalLossy }

// Typical holds the settings of the rule typical-lossy.
type Typical struct {
	Epsilon float64 // a token with at least this probability is always accepted
	Delta   float64 // so is one with at least this share of exp(−entropy)
}

// evidence is what a rule knows besides the target's distributions: the draft tokens, their q, and the uniforms.
type evidence struct {
	draft  Draft
	terms  Terms
	judged []Judged // (len(draft.Tokens)), a rule notes here the numbers that decided
}

func (e *evidence) uniform(stream sample.Stream, i int) float64 {
	return e.terms.Uniforms.Uniform(stream, e.terms.Round, i)
}

// acceptance is a rule at work. It reads a draft once, from the first token to the last, so with every rule a round needs one
// distribution for each row.
type acceptance interface {
	// begin forgets the round before.
	begin()
	// weigh takes draft token i, after all tokens before it, and the target's distribution p at its place. p is valid until the next
	// call. weigh returns false when no later token can matter.
	weigh(e *evidence, i int, p sample.Dist) bool
	// settle ends the weighing after n tokens and returns how many of them are accepted.
	settle(e *evidence, n int) int
	// replace draws the token in place of draft token i, the first that settle rejected.
	replace(e *evidence, i int) Judged
	// follow draws the bonus token from p, the target's distribution after a draft of n tokens that settle accepted whole.
	follow(e *evidence, n int, p sample.Dist) Judged
}

// acceptance returns the verifier's own state for a rule.
func (v *Verifier) acceptance(rule Rule, params sample.Params) acceptance {
	switch {
	case params.Temperature == 0:
		return &v.same
	case rule == Block:
		return &v.block
	case rule == ExactMatch:
		return &v.exact
	case rule == TypicalLossy:
		return &v.typical
	default:
		return &v.token
	}
}

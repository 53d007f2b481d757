package spec

import "specula/engine/sample"

// Rule names a rule of acceptance, as the setting speculation.acceptance does. The empty one is Token.
type Rule string

// The rules. All but the last leave the target's distribution as it is; at temperature 0 all do, and are the same.
const (
	Token        Rule = "token"         // each draft token with probability p/q, until one is refused
	Block        Rule = "block"         // the draft as a whole, which keeps at least as many
	ExactMatch   Rule = "exact"         // what the target itself draws
	TypicalLossy Rule = "typical-lossy" // whatever is probable enough
)

// Rules lists them all.
var Rules = [...]Rule{Token, Block, ExactMatch, TypicalLossy}

// Lossy reports whether a rule changes the distribution of what is written.
func (r Rule) Lossy() bool { return r == TypicalLossy }

// Typical sets the rule typical-lossy.
type Typical struct {
	Epsilon float64 // a token at least so probable is always kept
	Delta   float64 // and one with at least this share of exp(−entropy)
}

// evidence is what a rule may know beside the target's distributions: what was drafted, from what, and the uniforms.
type evidence struct {
	draft  Draft
	terms  Terms
	judged []Judged // (len(draft.Tokens)), in which a rule notes the numbers it went by
}

func (e *evidence) uniform(stream sample.Stream, i int) float64 {
	return e.terms.Uniforms.Uniform(stream, e.terms.Round, i)
}

// acceptance is a rule. It reads a draft once from front to back, so a round costs one distribution a row whatever the rule.
type acceptance interface {
	// begin forgets the round before.
	begin()
	// weigh takes draft token i, which every token before was weighed ahead of, and the target's distribution p at its place,
	// which holds until the next call. It returns false when nothing behind this token can matter.
	weigh(e *evidence, i int, p sample.Dist) bool
	// settle ends the weighing after n tokens and returns how many of them stay.
	settle(e *evidence, n int) int
	// replace draws the token in place of draft token i, the first that settle refused.
	replace(e *evidence, i int) Judged
	// follow draws from p, the target's distribution behind a draft of n tokens that settle kept whole.
	follow(e *evidence, n int, p sample.Dist) Judged
}

// acceptance returns a rule, with the state that this verifier keeps for it.
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

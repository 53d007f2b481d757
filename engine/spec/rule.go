package spec

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Rule names an acceptance rule: a value of the setting speculation.acceptance. "" means Token.
type Rule string

// The acceptance rules. At temperature 0 they are all the same and keep the target's distribution.
const (
	Token        Rule = "token"
	Block        Rule = "block"
	ExactMatch   Rule = "exact"
	TypicalLossy Rule = "typical-lossy"
)

// Rules is the register of rules, and the only list of them.
var Rules = [...]RuleTraits{
	{Rule: Token, Help: "each with probability p/q, until one is rejected", Words: tokenWords,
		state: func(v *Verifier) acceptance { return &v.token }, device: &byDevice{test: testedToken}},
	{Rule: Block, Help: "all are judged together, which accepts more tokens of long drafts", Words: blockWords,
		state:  func(v *Verifier) acceptance { return &v.block },
		device: &byDevice{judgement: compute.WholeBlock, test: testedBlock}},
	{Rule: ExactMatch, Drawn: true, Help: "only those that the target draws itself", Words: exactWords,
		state:  func(v *Verifier) acceptance { return &v.exact },
		device: &byDevice{judgement: compute.OwnDraws, anyDraft: true, test: drawnToken}},
	{Rule: TypicalLossy, Changes: true, Help: "those that the target finds probable enough; this changes the text's distribution, and the screen says so",
		Words: typicalWords,
		state: func(v *Verifier) acceptance { return &v.typical }},
}

// RuleTraits describe a rule.
type RuleTraits struct {
	Rule
	Changes bool // the text does not have the target's distribution
	// Drawn: the target itself draws the text, so one seed gives one text whatever is drafted.
	Drawn bool
	Help  string // which draft tokens it accepts, for the file of settings
	Words RuleWords
	state func(v *Verifier) acceptance
	// device says how a device judges by this rule; nil: none can.
	device *byDevice
}

// Lossy reports whether a rule changes the distribution of the text.
func (r Rule) Lossy() bool { return r.traits().Changes }

// Drawn reports whether one seed gives one text under this rule, whatever is drafted.
func (r Rule) Drawn() bool { return r.traits().Drawn }

// traits finds a rule in the register. The configuration allows only names in it.
func (r Rule) traits() *RuleTraits {
	for i := range Rules {
		if Rules[i].Rule == r || r == "" && Rules[i].Rule == Token {
			return &Rules[i]
		}
	}
	panic(fmt.Sprintf("spec: no acceptance rule %q", string(r)))
}

// Typical holds the settings of the rule typical-lossy.
type Typical struct {
	Epsilon float64 // the bound is at most this probability
	Delta   float64 // and at most Delta · exp(−entropy)
}

// evidence is what a rule knows besides the target's distributions: the draft tokens, their q, and the
// uniforms in terms.
type evidence struct {
	draft  Draft
	terms  Terms
	judged []Judged // one for each draft token; a rule notes here the numbers of its tests
}

func (e *evidence) uniform(stream sample.Stream, i int) float64 {
	return e.terms.Uniforms.Uniform(stream, e.terms.Round, i)
}

// acceptance is a rule at work. It reads a draft once, from first to last token. So a round needs one
// distribution for each row, with every rule.
type acceptance interface {
	// begin forgets the last round.
	begin()
	// weigh takes draft token i, after all tokens before it, and the target's distribution p at its position.
	// p is valid until the next call. weigh returns false when no later token can matter.
	weigh(e *evidence, i int, p sample.Dist) bool
	// settle ends the weighing after n tokens, and returns how many of them are accepted.
	settle(e *evidence, n int) int
	// replace draws the token in place of draft token i, the first rejected one.
	replace(e *evidence, i int) Judged
	// follow draws the bonus token from p, the target's distribution after a draft of n tokens that
	// were all accepted.
	follow(e *evidence, n int, p sample.Dist) Judged
}

// acceptance returns the verifier's state for a rule.
func (v *Verifier) acceptance(rule Rule, params sample.Params) acceptance {
	if params.Temperature == 0 {
		return &v.same
	}
	return rule.traits().state(v)
}

package proof

import (
	"context"
	"fmt"
	"math"
	"time"

	"specula/engine/sample"
	"specula/engine/stat"
)

// Verdict is what became of a case.
type Verdict string

// The verdicts.
const (
	Same        Verdict = "same"        // no difference from the target's distribution was found
	Differs     Verdict = "differs"     // there is one, in a rule that promises none
	Changed     Verdict = "lossy"       // a rule that changes the distribution and says so
	Untested    Verdict = "untested"    // nothing was drafted, so nothing was tried
	Unavailable Verdict = "unavailable" // the proposer cannot be used
)

// Report is what Run found. Its JSON form is stable: fields may be added, not changed.
type Report struct {
	Prompt       string        `json:"prompt"` // filled in by the caller, like Target and Draft
	Target       string        `json:"target"`
	Draft        string        `json:"draft,omitempty"`
	PromptTokens int           `json:"promptTokens"`
	Params       sample.Params `json:"params"`
	Gammas       []int         `json:"gammas"` // draft lengths, in turn
	// LeftOut names settings in force that change scores, and are not part of the comparison.
	LeftOut     []string `json:"leftOut,omitempty"`
	FalseAlarms float64  `json:"falseAlarms"`
	Certainty   float64  `json:"certainty"` // of Case.Notices
	Seconds     float64  `json:"seconds"`
	Cases       []Case   `json:"cases"`
	Lossless    bool     `json:"lossless"` // nothing differs, and something was tested
	Tested      int      `json:"tested"`   // cases that were
}

// Case is one proposer with one rule.
type Case struct {
	Proposer string  `json:"proposer"`
	Rule     string  `json:"rule"`
	Lossy    bool    `json:"lossy,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // of an unavailable or untested one; what differs
	Place    Place   `json:"place"`
	Trials   int     `json:"trials"`
	Drafted  int     `json:"drafted"`
	Tested   int     `json:"tested"`
	Accepted int     `json:"accepted"`
	Cells    int     `json:"cells"` // degrees of freedom of the joint test
	// The probability of a statistic at least as large in code without fault: Pearson's χ² and the likelihood ratio G over both
	// positions, and χ² of the first token alone.
	PearsonP float64 `json:"pearsonP"`
	GP       float64 `json:"gP"`
	FirstP   float64 `json:"firstP"`
	// Distance is the total variation distance of the counts from the exact probabilities, DistanceBound what that of the true
	// distribution exceeds with probability FalseAlarms at most.
	Distance      float64 `json:"distance"`
	DistanceBound float64 `json:"distanceBound"`
	// Notices is the smallest fault, as a total variation distance, that this case would have noticed with Certainty; Power2 the
	// probability of noticing one of 2 %.
	Notices float64 `json:"notices"`
	Power2  float64 `json:"power2"`
}

// Place says where in the reply was drawn.
type Place struct {
	ReplyTokens int     `json:"replyTokens"`     // in front of it
	Behind      string  `json:"behind"`          // the last of them, raw
	Again       bool    `json:"again,omitempty"` // asked for a second time
	EntropyBits float64 `json:"entropyBits"`     // of the target's next token, at temperature 0 that of temperature 1
}

// try plays one case and judges it.
func (t *trial) try(ctx context.Context, s *stage, p Proposer, rule Rule, deadline time.Time) (Case, error) {
	c := Case{Proposer: p.Name, Rule: string(rule.Name), Lossy: rule.Name.Lossy(), Place: t.describe(s.place)}
	b, err := t.newBins(ctx, s)
	if err != nil {
		return c, fmt.Errorf("the exact probabilities: %w", err)
	}
	sum, err := t.playAll(ctx, s, b, p, rule, deadline)
	if err != nil {
		return c, err
	}
	c.Trials, c.Drafted, c.Tested, c.Accepted = sum.trials, sum.drafted, sum.tested, sum.accepted
	var joint, first stat.Cells
	joint.Add(sum.joint, b.p)
	first.Add(sum.first, b.first)
	c.Cells = joint.Freedom
	c.PearsonP, c.GP, c.FirstP = stat.UpperTail(joint.Z()), stat.UpperTail(joint.ZOfG()), stat.UpperTail(first.Z())
	c.Distance, c.DistanceBound = stat.Distance(sum.joint, b.p, falseAlarms)
	c.Notices, c.Power2 = stat.Noticed(c.Trials, joint.Freedom, t.limit, certainty), stat.Power(c.Trials, joint.Freedom, t.limit, 0.02)
	if t.Params.Temperature == 0 {
		c.Notices, c.Power2 = 0, 1 // any other token than the target's is seen
	}
	differs := max(joint.Z(), joint.ZOfG(), first.Z()) > t.limit
	switch {
	case c.Lossy:
		c.Verdict = Changed
		if !differs {
			c.Why = "expected to differ; no difference was found here"
		}
	case differs:
		c.Verdict = Differs
	case c.Tested == 0:
		c.Verdict, c.Why = Untested, "nothing was drafted"
	default:
		c.Verdict = Same
	}
	if differs {
		c.Why = t.worst(sum, b)
	}
	return c, nil
}

// worst names the cell that is farthest from what it should be.
func (t *trial) worst(sum *tally, b *bins) string {
	n, most, at := float64(sum.trials), -1.0, 0
	for i, count := range sum.joint {
		expected := n * b.p[i]
		off := math.Abs(float64(count)-expected) / math.Sqrt(max(expected, 1e-3))
		if off > most {
			most, at = off, i
		}
	}
	name := "all other beginnings"
	switch tokens := b.tokens[at]; len(tokens) {
	case 1:
		name = fmt.Sprintf("%q and then any other token", t.Text(tokens[0]))
	case 2:
		name = fmt.Sprintf("%q %q", t.Text(tokens[0]), t.Text(tokens[1]))
	}
	return fmt.Sprintf("%s was written %d times in %d, expected were %.1f", name, sum.joint[at], sum.trials, n*b.p[at])
}

func (r *Report) judge() {
	r.Lossless = true
	for _, c := range r.Cases {
		switch c.Verdict {
		case Same, Changed:
			r.Tested++
		case Differs:
			r.Tested++
			r.Lossless = false
		}
	}
	r.Lossless = r.Lossless && r.Tested > 0
}

// Matched reports whether what was written has the target's distribution, as far as the report can tell.
func (r *Report) Matched() bool { return r.Lossless }

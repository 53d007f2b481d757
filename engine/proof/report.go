package proof

import "specula/engine/sample"

// Verdict is the result of a case.
type Verdict string

// The verdicts.
const (
	Same        Verdict = "same"        // no difference from the target's distribution was found
	Differs     Verdict = "differs"     // there is a difference, although the rule promises none
	Changed     Verdict = "lossy"       // the rule is declared lossy; Case.Why says whether a difference was found
	Untested    Verdict = "untested"    // no draft token was judged, or too little was written for a test
	Unavailable Verdict = "unavailable" // the proposer cannot be used
)

// Report is the result of Run. Its JSON is stable: fields may be added, but not changed.
type Report struct {
	// The caller fills in Prompt, Target, Draft and Settings.
	Prompt string `json:"prompt"`
	Target string `json:"target"`
	Draft  string `json:"draft,omitempty"`
	// Settings names the settings that are not at their defaults, each with its value.
	Settings []string `json:"settings,omitempty"`

	Params      sample.Params `json:"params"`
	FalseAlarms float64       `json:"falseAlarms"`
	Certainty   float64       `json:"certainty"` // probability of noticing a fault of the size Case.Notices
	Seconds     float64       `json:"seconds"`
	Cases       []Case        `json:"cases"`
	Lossless    bool          `json:"lossless"` // some case was tested, and no case has the verdict Differs or Changed
	Tested      int           `json:"tested"`   // number of cases that were tested
}

// Case is one proposer with one rule.
type Case struct {
	Proposer string  `json:"proposer"`
	Rule     string  `json:"rule"`
	Lossy    bool    `json:"lossy,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // why the case is unavailable or untested, or what differs
	Replies  int     `json:"replies"`
	Tokens   int     `json:"tokens"`
	Drafted  int     `json:"drafted"`
	Tested   int     `json:"tested"`
	Accepted int     `json:"accepted"`
	Tests    int     `json:"tests"`
	// SmallestP is the smallest p-value of the tests, and Worst the name of that test. For correct
	// code, the probability that some p-value is below FalseAlarms divided by the number of all tests
	// is at most FalseAlarms.
	SmallestP float64 `json:"smallestP"`
	Worst     string  `json:"worst,omitempty"`
	// Notices is the smallest fault that this case would notice with probability Certainty. The fault
	// is to accept this share of the tested draft tokens without a test. 1: no such fault would be
	// noticed. 0, at temperature 0: every token that differs from the target's would be noticed.
	Notices float64 `json:"notices"`
}

// conclude gives a case its verdict. falseAlarm is the largest probability that the case finds a fault in correct
// code.
func (s *Subject) conclude(c Contestant, j *Judge, falseAlarm float64) Case {
	out := Case{Proposer: c.Proposer, Rule: string(c.Rule), Lossy: c.Rule.Lossy() && s.Params.Temperature > 0, Replies: j.replies, Tokens: j.tokens,
		Drafted: j.drafted, Tested: j.tested, Accepted: j.accepted, Notices: j.notices(falseAlarm), Verdict: Same}
	worst, tests := j.worst()
	out.SmallestP, out.Worst, out.Tests = worst.P, worst.Name, tests
	if s.Params.Temperature == 0 {
		out.Notices = 0
	}
	fault := j.Fault(falseAlarm)
	switch {
	case out.Lossy && fault == "":
		out.Verdict, out.Why = Changed, "expected to differ; no difference was found here"
	case out.Lossy:
		out.Verdict, out.Why = Changed, fault
	case fault != "":
		out.Verdict, out.Why = Differs, fault
	case j.tested == 0:
		out.Verdict, out.Why = Untested, "it never had a guess"
	case tests == 0 && s.Params.Temperature > 0: // at temperature 0 the texts themselves were compared
		out.Verdict, out.Why = Untested, "too few tokens for any test: raise --seconds"
	}
	return out
}

// sum computes Tested and Lossless from the verdicts of the cases.
func (r *Report) sum() {
	r.Lossless = true
	for _, c := range r.Cases {
		switch c.Verdict {
		case Same:
			r.Tested++
		case Differs, Changed:
			r.Tested++
			r.Lossless = false
		}
	}
	r.Lossless = r.Lossless && r.Tested > 0
}

// Matched reports whether at least one case was tested, and only cases of a lossy rule differ.
func (r *Report) Matched() bool {
	for _, c := range r.Cases {
		if c.Verdict == Differs {
			return false
		}
	}
	return r.Tested > 0
}

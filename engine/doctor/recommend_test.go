package doctor

import (
	"strings"
	"testing"

	"specula/engine/event"
)

// recommended is the last line of an examination of proposers with these totals.
func recommended(verifyMS []float64, drafts map[string]*event.Totals) Line {
	x := &examination{report: &Report{VerifyMS: verifyMS}}
	for name, t := range drafts {
		x.report.Accepted = append(x.report.Accepted, x.worth(name, t))
	}
	x.recommend()
	return x.report.Lines[len(x.report.Lines)-1]
}

// Measurements have errors: here two rows seem to cost less than one.
func TestAProposerThatKeepsNothingIsNotRecommended(t *testing.T) {
	nothing := &event.Totals{Tokens: 40, Rounds: 40, Drafted: 17, Tested: 17, PositionTested: []int{17}, PositionKept: []int{0}, SampleMS: 1}
	hardly := &event.Totals{Tokens: 41, Rounds: 40, Drafted: 17, Tested: 17, Accepted: 1, PositionTested: []int{17}, PositionKept: []int{1}}
	for name, totals := range map[string]*event.Totals{"0 of 17 kept": nothing, "1 of 17 kept": hardly} {
		if l := recommended([]float64{0.19, 0.17, 0.16}, map[string]*event.Totals{"ngram": totals, "suffix": nothing}); l.Status != Warn || !strings.Contains(l.Found, "no speculation") {
			t.Errorf("%s: %s: %s", name, l.Status, l.Found)
		}
	}
	most := &event.Totals{Tokens: 160, Rounds: 40, Drafted: 160, Tested: 130, Accepted: 120, PositionTested: []int{40, 38, 30, 22}, PositionKept: []int{38, 30, 22, 20}, DraftMS: 2}
	l := recommended([]float64{0.19, 0.2, 0.22, 0.25, 0.3}, map[string]*event.Totals{"ngram": nothing, "draft": most})
	if l.Status != OK || !strings.HasPrefix(l.Found, "--proposer draft --gamma ") {
		t.Errorf("%s: %s", l.Status, l.Found)
	}
}

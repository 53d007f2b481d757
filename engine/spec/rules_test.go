package spec

import (
	"errors"
	"math"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/sample"
)

func TestRulesByHand(t *testing.T) {
	const acc, rej, dis, res, bon = event.Accepted, event.Rejected, event.Discarded, event.Resampled, event.Bonus
	p := [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}
	even := dist(.25, .5, .25)
	twice := []sample.Dist{even, even}
	isTwo := func(id int32) bool { return id == 2 }
	ninth := Typical{Epsilon: .09, Delta: .3}
	tried := map[Rule]bool{Token: true} // the tests of Verify have its cases
	for _, c := range []struct {
		name      string
		rule      Rule
		draft     Draft
		u         uniforms
		isStop    func(int32) bool
		verdicts  []event.Verdict
		committed []int32
		read      []int
		stop      bool
	}{
		// Token 1 alone has w = 0.3/0.5 and would be rejected with u = 0.61. The target likes token
		// 2 so much better than the draft does that both stay: w = min(1, 0.6·0.8/0.25) = 1.
		{name: "a later token saves an earlier one", rule: Block, draft: Draft{Tokens: []int32{1, 2}, Q: twice},
			u: uniforms{sample.AcceptTest: .61}, verdicts: []event.Verdict{acc, acc, bon}, committed: []int32{1, 2, 0}, read: []int{0, 1, 2}},
		// After token 1, w = 0.6: R = 0.6·0.8 − 0.25 = 0.23, h = 0.23/0.63 = 0.365. With token 0, w
		// = 0.6·0.1/0.25 = 0.24.
		{name: "the draft ends where a test passes", rule: Block, draft: Draft{Tokens: []int32{1, 0}, Q: twice},
			u: uniforms{sample.AcceptTest: .36, sample.ResidualDraw: .99}, verdicts: []event.Verdict{acc, rej, res}, committed: []int32{1, 2}, read: []int{0, 1}},
		{name: "and before the first token if none does", rule: Block, draft: Draft{Tokens: []int32{1, 0}, Q: twice},
			u: uniforms{sample.AcceptTest: .37, sample.ResidualDraw: .99}, verdicts: []event.Verdict{rej, dis, res}, committed: []int32{0}, read: []int{0, 1}},
		{name: "after a token the target never says, nothing is read", rule: Block, draft: Draft{Tokens: []int32{7, 0}, Q: []sample.Dist{sample.OneHot(7), even}},
			u: uniforms{}, verdicts: []event.Verdict{rej, dis, res}, committed: []int32{0}, read: []int{0}},
		{name: "a certain draft is kept with p", rule: Block, draft: Draft{Tokens: []int32{0, 2}, Q: []sample.Dist{sample.OneHot(0), sample.OneHot(2)}},
			u: uniforms{sample.AcceptTest: .39}, verdicts: []event.Verdict{acc, acc, bon}, committed: []int32{0, 2, 0}, read: []int{0, 1, 2}},
		{name: "a stop token is the last of a block", rule: Block, draft: Draft{Tokens: []int32{2, 2}, Q: twice}, isStop: isTwo,
			u: uniforms{sample.AcceptTest: .79}, verdicts: []event.Verdict{acc, dis}, committed: []int32{2}, read: []int{0}, stop: true},
		{name: "a stop token that is refused", rule: Block, draft: Draft{Tokens: []int32{2, 2}, Q: twice}, isStop: isTwo,
			u: uniforms{sample.AcceptTest: .81}, verdicts: []event.Verdict{rej, dis, res}, committed: []int32{0}, read: []int{0}},
		{name: "what the target draws stays", rule: ExactMatch, draft: Draft{Tokens: []int32{1, 1}, Q: twice},
			u: uniforms{sample.TargetDraw: .6}, verdicts: []event.Verdict{acc, rej, res}, committed: []int32{1, 2}, read: []int{0, 1}},
		{name: "and so does what it draws after", rule: ExactMatch, draft: Draft{Tokens: []int32{1, 2}, Q: twice},
			u: uniforms{sample.TargetDraw: .6}, verdicts: []event.Verdict{acc, acc, bon}, committed: []int32{1, 2, 1}, read: []int{0, 1, 2}},
		// The entropy of (0.1, 0.1, 0.8) is 0.639: 0.3·exp(−0.639) = 0.158, so 0.09 is the bound and
		// 0.1 passes, whatever u.
		{name: "what is typical stays", rule: TypicalLossy, draft: Draft{Tokens: []int32{2, 0}, Q: twice},
			u: uniforms{sample.AcceptTest: .99}, verdicts: []event.Verdict{acc, acc, bon}, committed: []int32{2, 0, 0}, read: []int{0, 1, 2}},
		{name: "what is not is drawn from p", rule: TypicalLossy, draft: Draft{Tokens: []int32{7, 0}, Q: []sample.Dist{sample.OneHot(7), even}},
			u: uniforms{sample.ResidualDraw: .6}, verdicts: []event.Verdict{rej, dis, res}, committed: []int32{1}, read: []int{0}},
	} {
		t.Run(string(c.rule)+": "+c.name, func(t *testing.T) {
			rows := &target{rows: p}
			out, err := NewVerifier().Verify(rows, c.draft, Terms{Params: warm, Uniforms: c.u, IsStop: c.isStop, Rule: c.rule, Typical: ninth})
			must(t, err)
			if got := verdicts(out); !slices.Equal(got, c.verdicts) {
				t.Errorf("verdicts %v, want %v", got, c.verdicts)
			}
			if got := out.Committed(); !slices.Equal(got, c.committed) || out.Stop != c.stop || !slices.Equal(rows.read, c.read) {
				t.Errorf("committed %v, stop %t, rows read %v; want %v, %t, %v", got, out.Stop, rows.read, c.committed, c.stop, c.read)
			}
		})
		tried[c.rule] = true
	}
	for _, rule := range Rules {
		if !tried[rule.Rule] {
			t.Errorf("the rule %s: add a case to TestRulesByHand", rule.Rule)
		}
	}
}

func TestBlockReportsTheNumbersThatDecided(t *testing.T) {
	rows := &target{rows: [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}}
	q := dist(.25, .5, .25)
	out, err := NewVerifier().Verify(rows, Draft{Tokens: []int32{1, 0}, Q: []sample.Dist{q, q}},
		Terms{Params: warm, Uniforms: uniforms{sample.AcceptTest: .3}, Rule: Block})
	must(t, err)
	want := []Judged{
		{ID: 1, P: .3, Q: .5, U: .3, Bound: .23 / .63},
		{ID: 0, P: .1, Q: .25, U: .3, Bound: .24},
		{ID: 2, P: .8, Q: .25, U: Unknown, Bound: Unknown},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	for i, got := range append(out.Draft, out.Commit) {
		if w := want[i]; got.ID != w.ID || !near(got.P, w.P) || !near(got.Q, w.Q) || got.U != w.U || !near(got.Bound, w.Bound) {
			t.Errorf("token %d: %+v, want %+v", i, got, w)
		}
	}
}

// A row that is not finite is an error only if the next token must be drawn from it, because all draft tokens
// before it are kept. If fewer are kept, the row is not needed.
func TestBlockBeforeARowThatIsNotFinite(t *testing.T) {
	nan := float32(math.NaN())
	q := dist(.25, .5, .25)
	rows := &target{rows: [][]float32{probabilities(.5, .3, .2), {nan, 0, 0}, {0, 0, 0}}}
	for _, c := range []struct {
		u         float64
		committed []int32
		fails     bool
	}{{.59, []int32{1}, true}, {.61, []int32{0}, false}} {
		out, err := NewVerifier().Verify(rows, Draft{Tokens: []int32{1, 2}, Q: []sample.Dist{q, q}},
			Terms{Params: warm, Uniforms: uniforms{sample.AcceptTest: c.u}, Rule: Block})
		if errors.Is(err, compute.ErrNotFinite) != c.fails || !slices.Equal(out.Committed(), c.committed) {
			t.Errorf("u = %g: %v, %v; want %v and an error: %t", c.u, out.Committed(), err, c.committed, c.fails)
		}
	}
}

// At temperature 0 all rules are the same, on the cheap path.
func TestEveryRuleIsTheSameAtTemperatureZero(t *testing.T) {
	q := dist(.25, .5, .25)
	for _, rule := range Rules {
		rows := &target{rows: [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}}
		draft := Draft{Tokens: []int32{0, 1}, Q: []sample.Dist{q, q}}
		out, err := NewVerifier().Verify(rows, draft, Terms{Rule: rule.Rule})
		must(t, err)
		if got := out.Committed(); !slices.Equal(got, []int32{0, 2}) || len(rows.read) > 0 || out.Path != Greedy {
			t.Errorf("%s: committed %v by path %s, rows read %v", rule.Rule, got, out.Path, rows.read)
		}
	}
}

// A round accepts as many tokens as the comparison says for its rule.
func TestInspectComparesTheRules(t *testing.T) {
	p := [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}
	q := dist(.25, .5, .25)
	draft := Draft{Tokens: []int32{1, 2}, Q: []sample.Dist{q, q}}
	for _, u := range []float64{0, .3, .61, .9} {
		us := uniforms{sample.AcceptTest: u, sample.TargetDraw: u}
		for _, params := range []sample.Params{warm, {}} {
			terms := Terms{Params: params, Uniforms: us, Typical: Typical{Epsilon: .25, Delta: 1}}
			rows := &target{rows: p}
			v := NewVerifier()
			in, err := v.Inspect(2, rows, draft, terms)
			must(t, err)
			if want := []int{0, 1, 2}; !slices.Equal(rows.read, want) || rows.argmaxs > 0 {
				t.Errorf("rows read %v, want %v, and %d argmaxes", rows.read, want, rows.argmaxs)
			}
			for k, rule := range Rules {
				terms.Rule = rule.Rule
				out, err := v.Verify(&target{rows: p}, draft, terms)
				must(t, err)
				if in.Kept[k] != out.Accepted {
					t.Errorf("u = %g, T = %g: %s keeps %d, and is said to keep %d", u, params.Temperature, rule.Rule, out.Accepted, in.Kept[k])
				}
			}
		}
	}
}

// A round allocates only what it returns.
func TestRulesAllocateNothing(t *testing.T) {
	p := [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}
	q := dist(.25, .5, .25)
	draft := Draft{Tokens: []int32{1, 2}, Q: []sample.Dist{q, q}}
	rows := &target{rows: p, read: make([]int, 0, 10_000)}
	v := NewVerifier()
	us := sample.Uniforms(uniforms{sample.AcceptTest: .61})
	for _, rule := range Rules {
		for _, params := range []sample.Params{warm, {}} {
			run := func() {
				rows.read = rows.read[:0]
				_, err := v.Verify(rows, draft, Terms{Params: params, Uniforms: us, Rule: rule.Rule})
				must(t, err)
			}
			run()
			const limit = 1.0 // Outcome.Draft
			if n := testing.AllocsPerRun(100, run); n > limit {
				t.Errorf("%s, temperature %g: %g allocations a round, want at most %g", rule.Rule, params.Temperature, n, limit)
			}
		}
	}
}

package spec

import (
	"errors"
	"math"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// target is a pass with rows written down by hand. It counts the reads.
type target struct {
	rows    [][]float32
	argmaxs int
	read    []int
}

func (r *target) Rows() int  { return len(r.rows) }
func (r *target) Vocab() int { return len(r.rows[0]) }

func (r *target) Argmax(dst []int32) (err error) {
	r.argmaxs++
	for i, row := range r.rows {
		if dst[i], err = sample.Argmax(row); err != nil {
			return err
		}
	}
	return nil
}

func (r *target) Row(i int, dst []float32) error {
	r.read = append(r.read, i)
	copy(dst, r.rows[i])
	return nil
}

// probabilities returns a row whose softmax is p.
func probabilities(p ...float64) []float32 {
	row := make([]float32, len(p))
	for i := range p {
		row[i] = float32(math.Log(p[i]))
	}
	return row
}

// uniforms are written down by hand: one number for each stream.
type uniforms map[sample.Stream]float64

func (u uniforms) Uniform(s sample.Stream, _, _ int) float64 { return u[s] }

func dist(p ...float64) sample.Dist { return sample.Dist{P: p} }

var warm = sample.Params{Temperature: 1, TopP: 1}

func verdicts(o Outcome) (v []event.Verdict) {
	for _, t := range o.Draft {
		v = append(v, t.Verdict)
	}
	if o.Commit.Verdict != "" {
		v = append(v, o.Commit.Verdict)
	}
	return v
}

func TestVerifyByHand(t *testing.T) {
	const (
		acc, rej, dis = event.Accepted, event.Rejected, event.Discarded
		res, bon, pla = event.Resampled, event.Bonus, event.Plain
	)
	p := [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}
	even := dist(.25, .5, .25)
	isTwo := func(id int32) bool { return id == 2 }
	for _, c := range []struct {
		name      string
		rows      [][]float32
		draft     Draft
		params    sample.Params
		u         uniforms
		isStop    func(int32) bool
		verdicts  []event.Verdict
		committed []int32
		tested    int
		read      []int
		stop      bool
	}{
		{name: "plain round", rows: p[:1], params: warm, u: uniforms{sample.BonusDraw: .6},
			verdicts: []event.Verdict{pla}, committed: []int32{1}, read: []int{0}},
		{name: "u·q below p is accepted, and the bonus comes from the row after", rows: p,
			draft:  Draft{Tokens: []int32{1, 2}, Q: []sample.Dist{even, even}},
			params: warm, u: uniforms{sample.AcceptTest: .59, sample.BonusDraw: .5},
			verdicts: []event.Verdict{acc, acc, bon}, committed: []int32{1, 2, 1}, tested: 2, read: []int{0, 1, 2}},
		{name: "u·q not below p is refused, and the residual has no mass there", rows: p,
			draft:  Draft{Tokens: []int32{1, 2}, Q: []sample.Dist{even, even}},
			params: warm, u: uniforms{sample.AcceptTest: .61, sample.ResidualDraw: .999},
			verdicts: []event.Verdict{rej, dis, res}, committed: []int32{0}, tested: 1, read: []int{0}},
		{name: "one-hot q is accepted with probability p", rows: p,
			draft:  Draft{Tokens: []int32{0, 0}, Q: []sample.Dist{sample.OneHot(0), sample.OneHot(0)}},
			params: warm, u: uniforms{sample.AcceptTest: .3, sample.ResidualDraw: .05},
			verdicts: []event.Verdict{acc, rej, res}, committed: []int32{0, 1}, tested: 2, read: []int{0, 1}},
		{name: "p = 0 never passes, not even u = 0", rows: [][]float32{{0, float32(math.Inf(-1))}, {0, 0}},
			draft:  Draft{Tokens: []int32{1}, Q: []sample.Dist{dist(0, 1)}},
			params: warm, u: uniforms{},
			verdicts: []event.Verdict{rej, res}, committed: []int32{0}, tested: 1, read: []int{0}},
		{name: "a draft token the target does not know is refused", rows: p[:2],
			draft:  Draft{Tokens: []int32{7}, Q: []sample.Dist{sample.OneHot(7)}},
			params: warm, u: uniforms{},
			verdicts: []event.Verdict{rej, res}, committed: []int32{0}, tested: 1, read: []int{0}},
		{name: "an accepted stop token ends the round and what lies after was never tested", rows: p,
			draft:  Draft{Tokens: []int32{2, 2}, Q: []sample.Dist{even, even}},
			params: warm, u: uniforms{}, isStop: isTwo,
			verdicts: []event.Verdict{acc, dis}, committed: []int32{2}, tested: 1, read: []int{0}, stop: true},
		{name: "a stop token drawn as bonus", rows: p[:2],
			draft:  Draft{Tokens: []int32{0}, Q: []sample.Dist{even}},
			params: warm, u: uniforms{sample.BonusDraw: .9}, isStop: isTwo,
			verdicts: []event.Verdict{acc, bon}, committed: []int32{0, 2}, tested: 1, read: []int{0, 1}, stop: true},
		{name: "greedy keeps argmaxes and reads no row", rows: p,
			draft:    Draft{Tokens: []int32{0, 1}, Q: []sample.Dist{even, even}},
			verdicts: []event.Verdict{acc, rej, res}, committed: []int32{0, 2}, tested: 2},
		{name: "greedy, all kept", rows: p,
			draft:    Draft{Tokens: []int32{0, 2}, Q: []sample.Dist{even, even}},
			verdicts: []event.Verdict{acc, acc, bon}, committed: []int32{0, 2, 1}, tested: 2},
		{name: "greedy, the lowest id wins a tie", rows: [][]float32{{1, 1}, {3, 3}},
			draft:    Draft{Tokens: []int32{1}, Q: []sample.Dist{sample.OneHot(1)}},
			verdicts: []event.Verdict{rej, res}, committed: []int32{0}, tested: 1},
		{name: "greedy stop", rows: p,
			draft:  Draft{Tokens: []int32{0, 2}, Q: []sample.Dist{even, even}},
			isStop: isTwo, verdicts: []event.Verdict{acc, acc}, committed: []int32{0, 2}, tested: 2, stop: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := &target{rows: c.rows}
			out, err := NewVerifier().Verify(rows, c.draft, Terms{Params: c.params, Uniforms: c.u, IsStop: c.isStop})
			if err != nil {
				t.Fatal(err)
			}
			if got := verdicts(out); !slices.Equal(got, c.verdicts) {
				t.Errorf("verdicts %v, want %v", got, c.verdicts)
			}
			if got := out.Committed(); !slices.Equal(got, c.committed) {
				t.Errorf("committed %v, want %v", got, c.committed)
			}
			if out.Tested != c.tested || out.Stop != c.stop || !slices.Equal(rows.read, c.read) {
				t.Errorf("tested %d, stop %t, rows read %v; want %d, %t, %v", out.Tested, out.Stop, rows.read, c.tested, c.stop, c.read)
			}
		})
	}
}

func TestVerifyReportsTheNumbersThatDecided(t *testing.T) {
	rows := &target{rows: [][]float32{probabilities(.5, .3, .2), probabilities(.1, .1, .8), probabilities(.2, .7, .1)}}
	q := dist(.25, .5, .25)
	out, err := NewVerifier().Verify(rows, Draft{Tokens: []int32{1, 0}, Q: []sample.Dist{q, q}},
		Terms{Params: warm, Uniforms: uniforms{sample.AcceptTest: .5}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Judged{
		{ID: 1, Verdict: event.Accepted, P: .3, Q: .5, U: .5},
		{ID: 0, Verdict: event.Rejected, P: .1, Q: .25, U: .5},
		{ID: 2, Verdict: event.Resampled, P: .8, Q: .25, U: Unknown},
	}
	for i, got := range append(out.Draft, out.Commit) {
		w := want[i]
		if got.ID != w.ID || got.Verdict != w.Verdict || math.Abs(got.P-w.P) > 1e-6 || got.Q != w.Q || got.U != w.U {
			t.Errorf("token %d: %+v, want %+v", i, got, w)
		}
	}
}

func TestScoresThatAreNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := []float32{0, 1, 0}
	for name, bad := range map[string][]float32{"NaN": {0, nan, 2}, "+Inf": {0, inf, 2}, "all -Inf": {-inf, -inf, -inf}} {
		for _, params := range []sample.Params{{TopP: 1}, {Temperature: 1, TopK: 1, TopP: 1}} {
			for at := range 4 {
				rows := &target{rows: [][]float32{good, good, good, good}}
				rows.rows[at] = bad
				// Tokens 0 and 1 are accepted and token 2 is rejected, so row 3 does not matter.
				d := Draft{Tokens: []int32{1, 1, 0}, Q: []sample.Dist{sample.OneHot(1), sample.OneHot(1), sample.OneHot(0)}}
				out, err := NewVerifier().Verify(rows, d, Terms{Params: params, Uniforms: uniforms{}})
				if at == 3 {
					if err != nil || !slices.Equal(out.Committed(), []int32{1, 1, 1}) {
						t.Errorf("%s after the row that decides, T=%g: %v, %v", name, params.Temperature, out.Committed(), err)
					}
					continue
				}
				if !errors.Is(err, compute.ErrNotFinite) {
					t.Errorf("%s in row %d, T=%g: error %v", name, at, params.Temperature, err)
				}
				if len(out.Committed()) != at || out.Tested != at {
					t.Errorf("%s in row %d, T=%g: %v committed, %d tested", name, at, params.Temperature, out.Committed(), out.Tested)
				}
			}
		}
	}
}

func TestVerifyRefusesRowsThatDoNotFit(t *testing.T) {
	rows := &target{rows: [][]float32{{0, 1}}}
	if _, err := NewVerifier().Verify(rows, Draft{Tokens: []int32{1}, Q: []sample.Dist{sample.OneHot(1)}}, Terms{}); err == nil {
		t.Error("one row was enough for a draft of one token and what follows it")
	}
}

func TestIdsStayInsideTheVocabulary(t *testing.T) {
	v := NewVerifier()
	for _, vocab := range []int{2, 31, 33, 100, 8193, 32000, 151936} {
		even := make([]float32, vocab)
		q := make([]float64, vocab)
		for i := range q {
			q[i] = 1 / float64(vocab)
		}
		for _, u := range []float64{0, 0.5, math.Nextafter(1, 0)} {
			us := uniforms{sample.AcceptTest: u, sample.ResidualDraw: u, sample.BonusDraw: u}
			last := int32(vocab - 1)
			for _, d := range []Draft{
				{},
				{Tokens: []int32{last}, Q: []sample.Dist{{P: q}}},
				{Tokens: []int32{last}, Q: []sample.Dist{sample.OneHot(last)}},
			} {
				rows := &target{rows: [][]float32{even, even}}
				out, err := v.Verify(rows, d, Terms{Params: warm, Uniforms: us})
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range out.Committed() {
					if id < 0 || int(id) >= vocab {
						t.Errorf("vocabulary of %d, u = %g: token %d", vocab, u, id)
					}
				}
			}
		}
	}
}

func TestInspectShowsTheLikeliestTokens(t *testing.T) {
	nan := float32(math.NaN())
	rows := &target{rows: [][]float32{probabilities(.5, .3, .2), {nan, 0, 0}, probabilities(.2, .7, .1)}}
	draft := Draft{Tokens: []int32{1, 2}, Q: []sample.Dist{sample.OneHot(1), sample.OneHot(2)},
		Logits: [][]float32{probabilities(.1, .8, .1), probabilities(.3, .3, .4)}}
	in, err := NewVerifier().Inspect(2, rows, draft, Terms{})
	if err != nil {
		t.Fatal(err)
	}
	near := func(got []sample.Candidate, want ...sample.Candidate) bool {
		return slices.EqualFunc(got, want, func(a, b sample.Candidate) bool { return a.ID == b.ID && math.Abs(a.P-b.P) < 1e-6 })
	}
	type c = sample.Candidate
	if !near(in.Target[0], c{ID: 0, P: .5}, c{ID: 1, P: .3}) || in.Target[1] != nil || !near(in.Target[2], c{ID: 1, P: .7}, c{ID: 0, P: .2}) {
		t.Errorf("target: %v", in.Target)
	}
	if !near(in.Draft[0], c{ID: 1, P: .8}, c{ID: 0, P: .1}) || !near(in.Draft[1], c{ID: 2, P: .4}, c{ID: 0, P: .3}) || in.Draft[2] != nil {
		t.Errorf("draft: %v", in.Draft)
	}
}

// The rule token accepts a draft of one token as often as an exact rule can: with the chance Σ min(p, q), which is 1
// minus the total variation of p and q.
func TestAcceptanceIsOneMinusTotalVariation(t *testing.T) {
	w := gate.NewWorld(32, 2, warm, gate.Near, 5)
	tr := newTrial(t, w, 1, warm)
	want := 0.0
	for id, p := range w.P(0, gate.Root) {
		want += min(p, tr.q[gate.Root].Prob(int32(id)))
	}
	accepted := 0
	for round := range rounds {
		d := tr.draft(round)
		out, err := tr.verifier.Verify(w.Rows(0, []int32{gate.Root, d.Tokens[0]}), d, Terms{Params: warm, Uniforms: tr.uniforms, Round: round})
		if err != nil {
			t.Fatal(err)
		}
		accepted += out.Accepted
	}
	if got, sigma := float64(accepted)/rounds, math.Sqrt(want*(1-want)/rounds); math.Abs(got-want) > 5.5*sigma {
		t.Errorf("accepted %.4f, want %.4f ± %.4f", got, want, sigma)
	}
}

package lossless_test

import (
	"strings"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/proof"
	"specula/engine/sample"
	"specula/engine/spec"
)

// mistaken is speculative sampling with room for a fault in each of its steps.
type mistaken struct {
	accept   float64 // 1: right
	residual func(p, q sample.Dist) sample.Dist
	bonus    func(p, q sample.Dist) sample.Dist

	sampler sample.Sampler
	scores  []float32
	p       []float64
}

func (f *mistaken) Remember(m *sample.Memo) { f.sampler.Memo = m }

func right(p, _ sample.Dist) sample.Dist { return p }

func rest(p, q sample.Dist) sample.Dist {
	return sample.Residual(make([]float64, len(p.P)), p, q)
}

func (f *mistaken) Verify(target spec.Rows, draft spec.Draft, terms spec.Terms) (spec.Outcome, error) {
	var out spec.Outcome
	if f.scores == nil {
		f.scores, f.p = make([]float32, target.Vocab()), make([]float64, target.Vocab())
	}
	for i := 0; ; i++ {
		if err := target.Row(i, f.scores); err != nil {
			return out, err
		}
		p, err := f.sampler.FromLogits(f.p, f.scores, terms.Params)
		if err != nil {
			return out, err
		}
		commit := func(d sample.Dist, v event.Verdict) (spec.Outcome, error) {
			id := sample.Draw(d, terms.Uniforms.Uniform(sample.ResidualDraw, terms.Round, i))
			out.Commit, out.Stop = spec.Judged{ID: id, Verdict: v}, terms.IsStop(id)
			return out, nil
		}
		if i == len(draft.Tokens) {
			last := p
			if i > 0 {
				last = draft.Q[i-1]
			}
			return commit(f.bonus(p, last), event.Bonus)
		}
		out.Tested++
		id, q := draft.Tokens[i], draft.Q[i]
		if terms.Uniforms.Uniform(sample.AcceptTest, terms.Round, i)*q.Prob(id) >= f.accept*p.Prob(id) {
			return commit(f.residual(p, q), event.Resampled)
		}
		out.Draft = append(out.Draft, spec.Judged{ID: id, Verdict: event.Accepted})
		out.Accepted++
		if terms.IsStop(id) {
			out.Stop = true
			return out, nil
		}
	}
}

func TestPlantedFaultsAreNoticed(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  mistaken
		trials int
		caught bool
	}{
		{"none", mistaken{accept: 1, residual: rest, bonus: right}, 6000, false},
		{"acceptance 5 % too high", mistaken{accept: 1.05, residual: rest, bonus: right}, 30_000, true},
		{"resampled from p", mistaken{accept: 1, residual: right, bonus: right}, 4000, true},
		{"bonus from q", mistaken{accept: 1, residual: rest, bonus: func(_, q sample.Dist) sample.Dist { return q }}, 30_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := []proof.Rule{{Name: spec.Token, New: func() proof.Verifier { f := c.fault; return &f }}}
			r := prove(t, c.trials, engine.ProofOptions{Rules: rules, Proposers: []string{"draft"}}, "temperature", "0.7")
			var b strings.Builder
			if err := r.WriteTable(&b); err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(b.String(), "NOT LOSSLESS: 1 of 1 cases differ")
			if r.Matched() == c.caught || said != c.caught {
				t.Errorf("matched %v:\n%s", r.Matched(), &b)
			}
		})
	}
}

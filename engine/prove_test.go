package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/proof"
	"specula/engine/sample"
	"specula/engine/spec"
)

// prove compares so many trials of each case, whatever time it takes: the same ones on every run.
func prove(t *testing.T, trials int, o engine.ProofOptions, settings ...string) *proof.Report {
	t.Helper()
	o.Prompt = unsure()[0]
	o.Options = proof.Options{Seconds: 600, Trials: trials, Seed: 1, Now: time.Now}
	r, err := session(t, pair(), settings...).VerifyDist(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryExactRuleIsFoundLossless(t *testing.T) {
	for _, settings := range [][]string{
		{"temperature", "0.7"},
		{"temperature", "1.2", "top-k", "50", "top-p", "0.95", "min-p", "0.01"},
		{"temperature", "0"},
	} {
		r := prove(t, 600, engine.ProofOptions{}, settings...)
		if !r.Matched() || r.Tested < 6 {
			t.Errorf("%v: lossless %v of %d cases: %+v", settings, r.Matched(), r.Tested, r.Cases)
		}
		for _, c := range r.Cases {
			if settings[1] != "0" && c.Verdict == proof.Same && (c.Notices <= 0 || c.Notices > 0.5 || c.Trials != 600) {
				t.Errorf("%v: %s with %s in %d trials would have noticed %g", settings, c.Proposer, c.Rule, c.Trials, c.Notices)
			}
		}
	}
}

func TestAProofNamesWhatItLeavesOut(t *testing.T) {
	r := prove(t, 100, engine.ProofOptions{Proposers: []string{"ngram"}}, "temperature", "0.7", "repeat-penalty", "1.2", "min-tokens", "5")
	if want := []string{"sampling.min_tokens", "penalties.repeat"}; !slices.Equal(r.LeftOut, want) {
		t.Errorf("left out %q, want %q", r.LeftOut, want)
	}
}

func TestALossyRuleSaysSo(t *testing.T) {
	r := prove(t, 1000, engine.ProofOptions{Proposers: []string{"draft"}, Rules: engine.RulesOnTrial("typical-lossy")}, "temperature", "0.7")
	if c := r.Cases[0]; c.Verdict != proof.Changed || c.PearsonP > 1e-6 || !r.Matched() {
		t.Errorf("typical acceptance is %+v", c)
	}
}

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

// A draft of another vocabulary is exact as well, by tokens and by text.
func TestATranslatedDraftIsFoundLossless(t *testing.T) {
	draft := strange(t, func(text string) bool { return len(text) > 6 })
	for _, way := range []string{"tokens", "text"} {
		s := session(t, translated(t, draft, way), "temperature", "0.7")
		r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: unsure()[0], Proposers: []string{"draft"},
			Options: proof.Options{Seconds: 600, Trials: 500, Seed: 1, Now: time.Now}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Matched() || r.Tested != 3 || r.Cases[0].Accepted == 0 {
			t.Errorf("%s: %+v", way, r.Cases)
		}
	}
}

// Heads are fed by passes of the target, in a proof as in a reply.
func TestHeadsAreFoundLossless(t *testing.T) {
	for name, kind := range kindsOfHeads(t, echo(t)) {
		s := session(t, withHeads(t, kind.path), "temperature", "1")
		r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: unsure()[0], Proposers: []string{kind.proposer},
			Options: proof.Options{Seconds: 600, Trials: 150, Seed: 1, Now: time.Now}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Matched() || r.Tested != 3 || r.Cases[0].Tested == 0 {
			t.Errorf("%s: %+v", name, r.Cases)
		}
	}
}

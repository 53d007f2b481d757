package spec

import (
	"fmt"
	"testing"

	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// rounds is the number of replies of a statistical test, the size for which reference simulations show that it tells every
// planted bug below from exact speculation.
const rounds = 200_000

// trial plays one round of a verifier with a draft of so many tokens.
type trial struct {
	world    *gate.World
	verifier *Verifier
	gamma    int
	q        []sample.Dist // (position·vocab + token before) what the draft draws from
	uniforms sample.Uniforms
}

// newTrial drafts with filters of its own, which exactness allows: temperature 0 makes q one-hot.
func newTrial(t testing.TB, w *gate.World, gamma int, filters sample.Params) *trial {
	tr := &trial{world: w, verifier: NewVerifier(), gamma: gamma, uniforms: sample.NewPhilox(7, 1)}
	for i := range gamma {
		for before := range w.Vocab {
			q, err := sample.FromLogits(make([]float64, w.Vocab), w.DraftScores(i, int32(before)), filters)
			if err != nil {
				t.Fatal(err)
			}
			tr.q = append(tr.q, q)
		}
	}
	return tr
}

// draft draws as a draft model does: each token from q behind the one before.
func (tr *trial) draft(round int) Draft {
	var d Draft
	before := gate.Root
	for i := range tr.gamma {
		q := tr.q[i*tr.world.Vocab+int(before)]
		before = sample.Draw(q, tr.uniforms.Uniform(sample.DraftDraw, round, i))
		d.Tokens = append(d.Tokens, before)
		d.Q = append(d.Q, q)
	}
	return d
}

func (tr *trial) play(t testing.TB) func(round int) gate.Played {
	return func(round int) gate.Played {
		d := tr.draft(round)
		rows := tr.world.Rows(0, append([]int32{gate.Root}, d.Tokens...))
		out, err := tr.verifier.Verify(rows, d, Terms{Params: tr.world.Params, Uniforms: tr.uniforms, Round: round})
		if err != nil {
			t.Fatal(err)
		}
		played := gate.Played{Tokens: out.Committed(), Bonus: -1}
		if out.Commit.Verdict == event.Bonus {
			played.Bonus = len(d.Tokens)
		}
		return played
	}
}

// gateCases are the configurations that exact speculation must pass: vocabularies, draft lengths, temperatures, filters and
// every relation of draft to target.
func gateCases() []gateCase {
	warm := func(t float64) sample.Params { return sample.Params{Temperature: t, TopP: 1} }
	filtered := sample.Params{Temperature: 1, TopK: 12, TopP: 0.9, MinP: 0.02}
	var cases []gateCase
	for _, vocab := range []int{2, 10, 32} {
		for _, gamma := range []int{1, 2, 4, 8} {
			cases = append(cases, gateCase{vocab, gamma, warm(1), warm(1), gate.Near})
		}
		for _, t := range []float64{0, 0.3, 1.5} {
			cases = append(cases, gateCase{vocab, 4, warm(t), warm(t), gate.Near})
		}
		for _, pairing := range gate.Pairings {
			cases = append(cases, gateCase{vocab, 2, warm(1), warm(1), pairing})
		}
		cases = append(cases,
			gateCase{vocab, 4, warm(1), warm(0), gate.Near},          // one-hot q
			gateCase{vocab, 2, warm(1.5), warm(0), gate.Unlike},      // one-hot and mostly wrong
			gateCase{vocab, 4, filtered, filtered, gate.Near},        // filters on
			gateCase{vocab, 4, filtered, warm(1.5), gate.Near},       // the draft's filters differ
			gateCase{vocab, 4, warm(1), filtered, gate.Near},         // q = 0 where p is not
			gateCase{vocab, 4, filtered, warm(0), gate.Near},         // one-hot q, filtered p
			gateCase{vocab, 4, warm(0), warm(1), gate.Near},          // greedy target, sampled draft
			gateCase{vocab, 2, warm(0.3), filtered, gate.Impossible}, // every draft token has p = 0
		)
	}
	return cases
}

type gateCase struct {
	vocab, gamma  int
	target, draft sample.Params
	pairing       gate.Pairing
}

func (c gateCase) String() string {
	return fmt.Sprintf("V=%d γ=%d T=%g/%g k=%d/%d %s", c.vocab, c.gamma, c.target.Temperature, c.draft.Temperature,
		c.target.TopK, c.draft.TopK, c.pairing)
}

func TestCommittedTokensHaveTheTargetsDistribution(t *testing.T) {
	for i, c := range gateCases() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			w := gate.NewWorld(c.vocab, c.gamma+1, c.target, c.pairing, uint64(i))
			report := w.Judge(rounds, c.gamma+1, uint64(i), newTrial(t, w, c.gamma, c.draft).play(t))
			if failed := report.Failures(); failed != "" {
				t.Error(failed)
			}
		})
	}
}

// plantedBugs are the wrong verifiers that were found in the field or are one slip away.
func plantedBugs() map[string]func(*tokenwise) {
	floored := func(q float64) float64 { return max(q, 0.02) }
	return map[string]func(*tokenwise){
		"resampled from p instead of the residual": func(r *tokenwise) {
			r.residual = func(_ []float64, p, _ sample.Dist, _ int32) sample.Dist { return p }
		},
		"accepted with probability p": func(r *tokenwise) {
			r.accept = func(u, p, _ float64) bool { return u < p }
		},
		"always accepted": func(r *tokenwise) {
			r.accept = func(_, _, _ float64) bool { return true }
		},
		"typical acceptance p > q/2": func(r *tokenwise) {
			r.accept = func(_, p, q float64) bool { return p > 0.5*q }
		},
		"the test's uniform reused for the residual": func(r *tokenwise) {
			r.residualStream = sample.AcceptTest
		},
		"bonus token drawn from q": func(r *tokenwise) {
			r.bonus = func(_ sample.Dist, d Draft) sample.Dist { return d.Q[len(d.Q)-1] }
		},
		"draft probability floored": func(r *tokenwise) {
			r.accept = func(u, p, q float64) bool { return u*floored(q) < p }
		},
		"residual is p without the draft token": func(r *tokenwise) {
			r.residual = func(dst []float64, p, _ sample.Dist, refused int32) sample.Dist {
				return sample.Residual(dst, p, sample.OneHot(refused))
			}
		},
		"acceptance too high by 5 %": func(r *tokenwise) {
			r.accept = func(u, p, q float64) bool { return u*q < 1.05*p }
		},
	}
}

func TestGateCatchesEveryPlantedBug(t *testing.T) {
	if n := len(plantedBugs()); n != 9 {
		t.Fatalf("%d planted bugs, want 9", n)
	}
	params := sample.Params{Temperature: 1, TopP: 1}
	for name, plant := range plantedBugs() {
		for _, vocab := range []int{10, 32} {
			t.Run(fmt.Sprintf("%s/V=%d", name, vocab), func(t *testing.T) {
				t.Parallel()
				w := gate.NewWorld(vocab, 5, params, gate.Near, 1)
				tr := newTrial(t, w, 4, params)
				plant(&tr.verifier.token)
				report := w.Judge(rounds, 5, 1, tr.play(t))
				if report.Failures() == "" {
					t.Errorf("not caught: %v", report)
				}
			})
		}
	}
}

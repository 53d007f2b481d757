package spec

import (
	"fmt"
	"testing"

	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// rounds is the number of replies of a statistical test. TestGateCatchesEveryPlantedBug notices each planted bug with
// as many, most of them with fewer.
const rounds = 100_000

// trial plays one round of a verifier with a draft of gamma tokens.
type trial struct {
	world    *gate.World
	verifier *Verifier
	rule     Rule
	typical  Typical
	gamma    int
	// least ends a draft after a token that is less probable, as an unsure proposer does.
	least    float64
	isStop   func(int32) bool
	q        []sample.Dist // (position·vocab + token before), the draft's distributions
	uniforms sample.Uniforms
}

// newTrial makes a trial. Its draft is drawn with filters (temperature, top-k, …) that can differ
// from the target's: verification is exact for any q. Temperature 0 makes q one-hot.
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

// draft draws like a draft model: each token from the q after the token before.
func (tr *trial) draft(round int) Draft {
	var d Draft
	before := gate.Root
	for i := range tr.gamma {
		q := tr.q[i*tr.world.Vocab+int(before)]
		before = sample.Draw(q, tr.uniforms.Uniform(sample.DraftDraw, round, i))
		d.Tokens = append(d.Tokens, before)
		d.Q = append(d.Q, q)
		if q.Prob(before) < tr.least {
			break
		}
	}
	return d
}

// terms returns the terms of a round that is a whole reply.
func (tr *trial) terms(round int) Terms {
	return Terms{Params: tr.world.Params, Uniforms: tr.uniforms, Round: round, Written: 100 * round, IsStop: tr.isStop,
		Rule: tr.rule, Typical: tr.typical}
}

func (tr *trial) play(t testing.TB) func(round int) gate.Played {
	return func(round int) gate.Played {
		d := tr.draft(round)
		rows := tr.world.Rows(0, append([]int32{gate.Root}, d.Tokens...))
		out, err := tr.verifier.Verify(rows, d, tr.terms(round))
		if err != nil {
			t.Fatal(err)
		}
		played := gate.Played{Tokens: out.Committed(), Bonus: -1}
		if out.Commit.Verdict == event.Bonus && tr.least == 0 {
			played.Bonus = len(d.Tokens)
		}
		return played
	}
}

// gateCases are the configurations that exact speculation must pass: vocabularies, draft lengths,
// temperatures, filters, and all relations of draft to target.
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

// replies is the number of replies that a case is tested with. In a vocabulary of two tokens a residual can only be
// the other token, so most bugs cannot show.
func (c gateCase) replies() int {
	if c.vocab < 10 {
		return rounds / 4
	}
	return rounds
}

func TestCommittedTokensHaveTheTargetsDistribution(t *testing.T) {
	for i, c := range gateCases() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			w := gate.NewWorld(c.vocab, c.gamma+1, c.target, c.pairing, uint64(i))
			report := w.Judge(c.replies(), c.gamma+1, uint64(i), newTrial(t, w, c.gamma, c.draft).play(t))
			if failed := report.Failures(); failed != "" {
				t.Error(failed)
			}
		})
	}
}

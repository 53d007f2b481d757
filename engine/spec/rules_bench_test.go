package spec

import (
	"testing"

	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// BenchmarkRules times a round of each rule: a sampled draft of 4 tokens over a vocabulary like the
// demo pair's.
func BenchmarkRules(b *testing.B) {
	const vocab, gamma = 4096, 4
	target, draft := make([][]float32, gamma+1), Draft{}
	w := gate.NewWorld(gamma+1, 1, warm, gate.Near, 1) // a few rows of scores, repeated over the vocabulary
	for i := range target {
		scores, guess := make([]float32, vocab), make([]float32, vocab)
		for id := range scores {
			k := (id * 7) % (gamma + 1)
			scores[id] = w.TargetScores(0, int32(i))[k] + float32(id%13)
			guess[id] = w.DraftScores(0, int32(i))[k] + float32(id%13)
		}
		target[i] = scores
		if i < gamma {
			q, err := sample.FromLogits(make([]float64, vocab), guess, warm)
			if err != nil {
				b.Fatal(err)
			}
			draft.Q = append(draft.Q, q)
			draft.Tokens = append(draft.Tokens, sample.Draw(q, 0.5))
		}
	}
	rows := &quiet{rows: target}
	for _, rule := range Rules {
		b.Run(string(rule.Rule), func(b *testing.B) {
			v := NewVerifier()
			round, kept := 0, 0
			us := sample.NewPhilox(1, 1)
			for b.Loop() {
				out, err := v.Verify(rows, draft, Terms{Params: warm, Uniforms: us, Round: round, Written: round, Rule: rule.Rule, Typical: Typical{.09, .3}})
				if err != nil {
					b.Fatal(err)
				}
				kept += out.Accepted
				round++
			}
			b.ReportMetric(float64(kept)/float64(round), "kept/round")
		})
	}
}

type quiet struct{ rows [][]float32 }

func (q *quiet) Rows() int                      { return len(q.rows) }
func (q *quiet) Vocab() int                     { return len(q.rows[0]) }
func (q *quiet) Argmax([]int32) error           { panic("not asked for") }
func (q *quiet) Row(i int, dst []float32) error { copy(dst, q.rows[i]); return nil }

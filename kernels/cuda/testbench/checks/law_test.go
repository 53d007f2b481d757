package checks

import (
	"testing"

	"specula/engine/sample"
	"specula/engine/spec/gate"
	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// The law: whatever p and q the kernels compute, the text has the target's distribution. Here the
// kernels themselves write replies of a small language: drafts are drawn and judged on the device.
// The replies are compared with the exact distribution.

const (
	lawVocab   = 8
	lawDrafts  = 2
	lawReplies = 4_000
)

// language has every row of a world as weights made by the kernels: by position and previous
// token.
type language struct {
	p, q []ref.WeightRow
}

func newLanguage(t *testing.T, w *gate.World, target, draft ref.Filters) language {
	rows := func(scores func(position int, before int32) []float32, f ref.Filters) []ref.WeightRow {
		all := concat((lawDrafts+1)*lawVocab,
			func(i int) []float32 { return scores(i/lawVocab, int32(i%lawVocab)) })
		cuts := cutRows(t, load(t, "nucleus"), 32, all, lawVocab, f)
		weights, sums := softmax(t, load, all, lawVocab, cuts, f)
		list := make([]ref.WeightRow, len(sums))
		for i := range list {
			list[i] = ref.WeightRow{Weights: rowOf(weights, i, lawVocab), Sums: sums[i : i+1]}
		}
		return list
	}
	return language{rows(w.TargetScores, target), rows(w.DraftScores, draft)}
}

// write lets the kernels write that many replies, each of one round.
func (l language) write(t testing.TB, softmax, reject Kernels, replies int) []gate.Played {
	t.Helper()
	b := &batch{sequences: replies, rows: lawDrafts, vocab: lawVocab, draftVocab: lawVocab}
	before := make([]int32, replies)
	for s := range replies {
		b.rounds = append(b.rounds,
			ref.Round{Seed: [2]uint32{11, 12}, Reply: uint32(s), Round: 1, Drafts: lawDrafts})
	}
	b.p, b.q = make([]ref.WeightRow, replies*(lawDrafts+1)), make([]ref.WeightRow, replies*lawDrafts)
	b.ids = make([]int32, replies*lawDrafts)
	for i := range lawDrafts + 1 {
		for s := range replies {
			b.p[s*(lawDrafts+1)+i] = l.p[i*lawVocab+int(before[s])]
		}
		if i == lawDrafts {
			break
		}
		q := func(s int) ref.WeightRow { return l.q[i*lawVocab+int(before[s])] }
		ids, chances := make([]int32, replies), make([]float32, replies)
		softmax.Run("draw_rows", simtest.Grid(1, replies), simtest.Block(32), 0,
			concat(replies, func(s int) []float32 { return q(s).Weights }),
			concat(replies, func(s int) []uint64 { return q(s).Sums }), b.rounds, int32(ref.DraftDraw), int32(i), ids, nil, chances, int32(lawVocab))
		for s := range replies {
			b.q[s*lawDrafts+i], b.ids[s*lawDrafts+i] = q(s), ids[s]
		}
		before = ids
	}
	words := b.run(t, reject, 1, 32)
	played := make([]gate.Played, replies)
	for s := range played {
		accepted, next, _, _ := cuda.Rejection(rowOf(words, s, lawDrafts+1), lawDrafts)
		tokens := append([]int32{}, rowOf(b.ids, s, lawDrafts)[:accepted]...)
		played[s] = gate.Played{Tokens: append(tokens, next), Bonus: -1}
		if accepted == lawDrafts {
			played[s].Bonus = lawDrafts
		}
	}
	return played
}

func filtersOf(p sample.Params) ref.Filters {
	f := ref.Filters{Temperature: float32(p.Temperature), FilterTemperature: float32(p.Temperature),
		TopP: float32(p.TopP), MinP: float32(p.MinP), TopK: int32(p.TopK)}
	if p.TemperatureLast {
		f.FilterTemperature = 1
	}
	return f
}

// judgeLaw returns what is wrong with the replies of a language.
func judgeLaw(t *testing.T, softmax, reject Kernels, pairing gate.Pairing, params sample.Params) string {
	w := gate.NewWorld(lawVocab, lawDrafts+1, params, pairing, 5)
	l := newLanguage(t, w, filtersOf(params), filters)
	played := l.write(t, softmax, reject, lawReplies)
	return w.Judge(lawReplies, lawDrafts+1, 3,
		func(trial int) gate.Played { return played[trial] }).Failures()
}

func TestLawOfTheDevice(t *testing.T) {
	softmax, reject := load(t, "softmax"), load(t, "reject")
	params := sample.Params{Temperature: 0.7, TopP: 0.9, TopK: 6}
	if failures := judgeLaw(t, softmax, reject, gate.Near, params); failures != "" {
		t.Error(failures)
	}
}

// The kernels equal the reference bit for bit. So the reference can test the law more precisely
// than the simulator has time for.
func TestLawOfTheReference(t *testing.T) {
	for pairing, replies := range map[gate.Pairing]int{gate.Near: 200_000, gate.Opposed: 40_000,
		gate.Partial: 40_000} {
		params := sample.Params{Temperature: 1, TopP: 1}
		w := gate.NewWorld(lawVocab, lawDrafts+1, params, pairing, 6)
		rows := func(scores func(int, int32) []float32) (list []ref.WeightRow) {
			for i := range (lawDrafts + 1) * lawVocab {
				list = append(list, ref.SoftmaxRow(scores(i/lawVocab, int32(i%lawVocab)), 0, filters))
			}
			return list
		}
		allP, allQ := rows(w.TargetScores), rows(w.DraftScores)
		play := func(trial int) gate.Played {
			round := ref.Round{Seed: [2]uint32{3, 4}, Reply: uint32(trial), Drafts: lawDrafts}
			var p, q []ref.WeightRow
			var ids []int32
			before := gate.Root
			for i := range lawDrafts + 1 {
				at := i*lawVocab + int(before)
				p = append(p, allP[at])
				if i < lawDrafts {
					q = append(q, allQ[at])
					before = int32(allQ[at].Draw(round, ref.DraftDraw, i))
					ids = append(ids, before)
				}
			}
			r := ref.Reject(p, q, ids, round)
			played := gate.Played{Tokens: append(ids[:r.Accepted:r.Accepted], int32(r.Commit)), Bonus: -1}
			if r.Accepted == lawDrafts {
				played.Bonus = lawDrafts
			}
			return played
		}
		if failures := w.Judge(replies, lawDrafts+1, 3, play).Failures(); failures != "" {
			t.Errorf("%s: %s", pairing, failures)
		}
	}
}

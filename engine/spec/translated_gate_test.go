package spec

import (
	"math"
	"slices"
	"testing"

	"specula/engine/spec/gate"
)

// letters relates two toy vocabularies of the same size. Target token t is the letter 'a'+t. The draft model
// has the same letters in another order. In place of the target's last letter it has a token with the text
// "ab".
type letters struct{ vocab int32 }

func (l letters) own(target int32) int32 { return (target + 1) % l.vocab } // id 0, the place of the last letter, is "ab"

func (l letters) Spell(dst, target []int32) []int32 {
	for _, id := range target {
		if id == l.vocab-1 { // the draft model has no token for this letter, so any token will do
			id = 0
		}
		dst = append(dst, l.own(id))
	}
	return dst
}

func (l letters) Rescore(dst, draft []float32) {
	for id := range dst {
		dst[id] = draft[l.own(int32(id))]
	}
	dst[l.vocab-1] = float32(math.Inf(-1))
}

func (l letters) TargetBytes(id int32) []byte { return []byte{'a' + byte(id)} }

func (l letters) DraftBytes(id int32) []byte {
	if id == 0 {
		return []byte("ab")
	}
	return []byte{'a' + byte(id-1)}
}

func (l letters) SpellText(dst []int32, text []byte) []int32 {
	for _, c := range text {
		dst = l.Spell(dst, []int32{int32(c - 'a')})
	}
	return dst
}

func (l letters) Retell(dst, draft []int32) []int32 {
	for _, id := range draft {
		for _, c := range l.DraftBytes(id) {
			dst = append(dst, int32(c-'a'))
		}
	}
	return dst
}

func (l letters) DraftStop(int32) bool { return false }

func newTranslatedWorldDraft(prompt int) func(*testing.T, *gate.World) Proposer {
	return func(t *testing.T, w *gate.World) Proposer {
		d, err := NewTranslatedDraft(worldModel{w, prompt}, w.Vocab, w.Vocab, letters{int32(w.Vocab)})
		must(t, err)
		return d
	}
}

func newRetoldWorldDraft(prompt int) func(*testing.T, *gate.World) Proposer {
	return func(t *testing.T, w *gate.World) Proposer {
		r, err := NewRetold(worldModel{w, prompt}, w.Vocab, letters{int32(w.Vocab)})
		must(t, err)
		return r
	}
}

// The draft model keeps its own tokens as far as they agree with the committed text. It reads the
// spelling of the rest.
func TestRetoldKeepsItsOwnTokens(t *testing.T) {
	texts := letters{5} // target a b c d e; draft "ab" a b c d
	for _, tt := range []struct {
		name            string
		said, committed []int32
		want            []int32 // tokens of the draft model
	}{
		{"all of it", []int32{0, 3}, []int32{0, 1, 2}, []int32{0, 3}},
		{"all of it and more", []int32{0}, []int32{0, 1, 3}, []int32{0, 4}},
		{"cut inside a token", []int32{0}, []int32{0, 2}, []int32{1, 3}},
		{"nothing of it", []int32{3, 3}, []int32{1}, []int32{2}},
		{"nothing said", nil, []int32{0, 1}, []int32{1, 2}},
		{"a token it lacks", []int32{0}, []int32{0, 1, 4}, []int32{0, 1}},
		{"nothing committed", []int32{0}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := NewRetold(worldModel{nil, 0}, 5, texts)
			must(t, err)
			_, err = r.Begin(nil)
			must(t, err)
			r.said = slices.Clone(tt.said)
			must(t, r.Committed(tt.committed))
			if !slices.Equal(r.context, tt.want) {
				t.Errorf("the draft's context is %v, want %v", r.context, tt.want)
			}
		})
	}
}

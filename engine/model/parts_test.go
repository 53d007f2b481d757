package model_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"specula/engine/model"
)

// Sequences that share a pass are independent: logits, keys and values equal those of separate
// passes.
func TestPartsOfAPassAreIndependent(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			m := s.open(t, newBackend(t, 2), model.Options{MaxTokens: 300})
			across := 254 // one of the caches crosses a split of attention
			if s.near {
				across = 14
			}
			partsAreIndependent(t, m, across, 3, 5, 1)
			partsAreIndependent(t, m, across, 16, 16) // the longest draft under guidance
		})
	}
}

// partsAreIndependent compares one pass over several sequences, with these numbers of rows, to
// separate passes. The caches have different lengths; second is the length of the second cache.
func partsAreIndependent(t *testing.T, m *model.Model, second int, rows ...int) {
	t.Helper()
	vocab := m.Config().Vocab
	before := [][]int32{randomIDs(7, vocab, 1), randomIDs(second, vocab, 2), nil}
	var together, apart record
	var parts []model.Part
	for i, n := range rows {
		cache, ids := newCache(t, m), randomIDs(n, vocab, uint64(4+i))
		if len(before[i]) > 0 {
			if _, err := m.Prefill(context.Background(), cache, before[i], nil); err != nil {
				t.Fatal(err)
			}
		}
		alone := runSteps(t, m, cache, ids, 1)
		apart.scores = append(apart.scores, alone.scores...)
		apart.keys, apart.values = append(apart.keys, alone.keys...), append(apart.values, alone.values...)
		parts = append(parts, model.Part{Cache: cache, IDs: ids})
	}
	logits, err := m.ForwardParts(context.Background(), parts...)
	if err != nil {
		t.Fatal(err)
	}
	together.scores = scoresOf(t, logits)
	for i, part := range parts {
		together.addCache(t, m, part.Cache, len(before[i]))
	}
	together.same(t, fmt.Sprintf("sequences of %d rows in a pass", rows), apart)
}

func TestPartsThatDoNotFit(t *testing.T) {
	m := openModel(t, newBackend(t, 1), "../../assets/pair/draft.gguf", model.Options{MaxTokens: 8, MaxRows: 4})
	a, b := newCache(t, m), newCache(t, m)
	for _, tt := range []struct {
		name  string
		parts []model.Part
		says  string
	}{
		{"none", nil, "a pass over 0 tokens"},
		{"one empty", []model.Part{{Cache: a, IDs: []int32{1}}, {Cache: b}}, "that at 1 has no tokens"},
		{"too many together", []model.Part{{Cache: a, IDs: make([]int32, 3)}, {Cache: b, IDs: make([]int32, 2)}}, "a pass over 5 tokens: allowed are 1 to 4"},
		{"unknown token in the second", []model.Part{{Cache: a, IDs: []int32{1}}, {Cache: b, IDs: []int32{-1}}}, "outside the vocabulary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := m.ForwardParts(context.Background(), tt.parts...); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that says %q", err, tt.says)
			}
			if a.Len() != 0 || b.Len() != 0 {
				t.Errorf("the caches hold %d and %d tokens, want none", a.Len(), b.Len())
			}
		})
	}
}

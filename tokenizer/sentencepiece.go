package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// sentencePiece is the BPE mode of SentencePiece (Kudo and Richardson, 2018) as llama.cpp runs it. Two
// neighbours are joined if their joined text is a token. The pair whose token has the highest score
// comes first.
type sentencePiece struct {
	vocab    *vocabulary
	ranks    []int32 // by token id: 0 for the highest score; tokens with equal scores have equal ranks
	addSpace bool
}

func newSentencePiece(spec Spec, v *vocabulary) *sentencePiece {
	order := make([]int32, len(spec.Scores))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(spec.Scores[b], spec.Scores[a]) })
	ranks := make([]int32, len(order))
	for i, id := range order {
		ranks[id] = int32(i)
		if i > 0 && spec.Scores[id] == spec.Scores[order[i-1]] {
			ranks[id] = ranks[order[i-1]]
		}
	}
	return &sentencePiece{vocab: v, ranks: ranks, addSpace: spec.AddSpacePrefix}
}

func (s *sentencePiece) encode(to *encoding, text string, first bool) {
	if first && s.addSpace {
		text = " " + text
	}
	var m merger
	m.encodeCharacters(to, s.vocab, strings.ReplaceAll(text, " ", "▁"), s)
}

// encodeCharacters appends the ids of a text whose first symbols are its characters.
func (m *merger) encodeCharacters(to *encoding, v *vocabulary, text string, r rules) {
	for text != "" {
		n := runeBoundary(text, maxMergeBytes)
		m.encodePart(to, v, text[:n], r)
		text = text[n:]
	}
}

func (m *merger) encodePart(to *encoding, v *vocabulary, text string, r rules) {
	m.begin(len(text))
	prev := int32(-1)
	for i, char := range text {
		at, size := int32(i), int32(utf8.RuneLen(char))
		id, ok := v.plain[text[at:at+size]]
		if !ok {
			id = -1
		}
		m.set(at, prev, size, id)
		prev = at
	}
	m.merge(text, r)
	for at := int32(0); int(at) < len(text); at = m.symbols[at].next {
		if sym := m.symbols[at]; sym.id >= 0 {
			to.ids = append(to.ids, sym.id)
		} else {
			v.spell(to, text[at:at+sym.size])
		}
	}
}

func (s *sentencePiece) join(raw string, _, _ int32) (rank, id int32, ok bool) {
	id, ok = s.vocab.plain[raw]
	if !ok {
		return 0, 0, false
	}
	return s.ranks[id], id, true
}

// runeBoundary returns the length of the longest start of text that has at most limit bytes and
// ends between two characters.
func runeBoundary(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for limit > 1 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}

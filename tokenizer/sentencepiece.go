package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// sentencePiece is the BPE mode of SentencePiece (Kudo and Richardson, 2018) as llama.cpp runs it:
// two neighbours are joined if their joined text is a token, the pair with the highest score
// first.
type sentencePiece struct {
	vocab    *vocabulary
	ranks    []int32 // V; 0 for the highest score, equal for equal scores
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
	text = strings.ReplaceAll(text, " ", "▁")
	var m merger
	for text != "" {
		n := runeBoundary(text, maxMergeBytes)
		to.ids = s.encodePart(to.ids, text[:n], &m)
		text = text[n:]
	}
}

func (s *sentencePiece) encodePart(dst []int32, text string, m *merger) []int32 {
	m.begin(len(text))
	prev := int32(-1)
	for i, r := range text {
		at, size := int32(i), int32(utf8.RuneLen(r))
		id, ok := s.vocab.plain[text[at:at+size]]
		if !ok {
			id = -1
		}
		m.set(at, prev, size, id)
		prev = at
	}
	m.merge(text, s)
	for at := int32(0); int(at) < len(text); at = m.symbols[at].next {
		if sym := m.symbols[at]; sym.id >= 0 {
			dst = append(dst, sym.id)
		} else {
			dst = s.spell(dst, text[at:at+sym.size])
		}
	}
	return dst
}

// spell appends the byte tokens of a character, or the unknown token if the vocabulary lacks one
// of the bytes.
func (s *sentencePiece) spell(dst []int32, char string) []int32 {
	start := len(dst)
	for i := range len(char) {
		id := s.vocab.byteID[char[i]]
		if id < 0 {
			return append(dst[:start], s.vocab.unk)
		}
		dst = append(dst, id)
	}
	return dst
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

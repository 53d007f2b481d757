package tokenizer

import "strings"

// bytePair is byte-level BPE as in "Language Models are Unsupervised Multitask Learners" (Radford
// et al., 2019).
type bytePair struct {
	vocab *vocabulary
	pre   preTokenizer
	rules map[pair]merge
}

// pair is two neighbouring tokens; merge is the token that they become.
type pair struct{ left, right int32 }

type merge struct{ rank, id int32 }

func newBytePair(spec Spec, v *vocabulary) (*bytePair, error) {
	pre, err := choosePreTokenizer(spec)
	if err != nil {
		return nil, err
	}
	b := &bytePair{vocab: v, pre: pre, rules: make(map[pair]merge, len(spec.Merges))}
	for i, line := range spec.Merges {
		// The left token may itself begin with a space, in a vocabulary that is not byte-level
		// throughout.
		cut := 0
		if line != "" {
			cut = strings.IndexByte(line[1:], ' ') + 1
		}
		if cut == 0 || cut == len(line)-1 {
			return nil, fieldError("merges", "entry %d is %.64q; needed are two tokens with a space between", i, line)
		}
		left, okLeft := v.plain[line[:cut]]
		right, okRight := v.plain[line[cut+1:]]
		id, ok := v.plain[line[:cut]+line[cut+1:]]
		if !okLeft || !okRight || !ok {
			// Skip the rule: it can never produce ordinary text, because its result or a part of
			// it is a control token or is not in the vocabulary.
			continue
		}
		if _, seen := b.rules[pair{left, right}]; !seen {
			b.rules[pair{left, right}] = merge{int32(i), id}
		}
	}
	return b, nil
}

func (b *bytePair) encode(to *encoding, text string, _ bool) {
	var m merger
	var spelled []byte
	for text != "" {
		n := min(b.pre.split(text), maxMergeBytes)
		word := text[:n]
		text = text[n:]
		if b.pre.wholeWords {
			spelled = appendByteText(spelled[:0], word)
			if id, ok := b.vocab.plain[string(spelled)]; ok {
				to.ids = append(to.ids, id)
				continue
			}
		}
		b.encodeWord(to, word, &m)
	}
}

// encodeWord drops bytes that have no token, as llama.cpp and Hugging Face do. Such a byte is in
// no longer token either, because those are merged from bytes that have one.
func (b *bytePair) encodeWord(to *encoding, word string, m *merger) {
	m.begin(len(word))
	for i := range int32(len(word)) {
		m.set(i, i-1, 1, b.vocab.byteID[word[i]])
	}
	m.merge(word, b)
	for at := int32(0); int(at) < len(word); at = m.symbols[at].next {
		if id := m.symbols[at].id; id >= 0 {
			to.ids = append(to.ids, id)
		} else {
			to.lost = append(to.lost, word[at])
		}
	}
}

func (b *bytePair) join(_ string, left, right int32) (rank, id int32, ok bool) {
	m, ok := b.rules[pair{left, right}]
	return m.rank, m.id, ok
}

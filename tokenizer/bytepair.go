package tokenizer

import "strings"

// bytePair is BPE, as in "Language Models are Unsupervised Multitask Learners" (Radford et al.,
// 2019). A word begins as a list of its bytes or, in some vocabularies, of its characters. Merges
// join them to tokens.
type bytePair struct {
	vocab *vocabulary
	cut   cutter
	whole bool // a word that is itself a token becomes this token, without merges
	rules map[pair]merge
}

// pair is two neighbouring tokens; merge is the rule for them: its rank, and the token that they become.
type pair struct{ left, right int32 }

type merge struct{ rank, id int32 }

func newBytePair(spec Spec, v *vocabulary) (*bytePair, error) {
	pre, err := choosePreTokenizer(spec)
	if err != nil {
		return nil, err
	}
	b := &bytePair{vocab: v, cut: pre.compile(), whole: pre.wholeWords, rules: make(map[pair]merge, len(spec.Merges))}
	for i, line := range spec.Merges {
		// Look for the space between the tokens from the second byte on: in some vocabularies the left
		// token itself begins with a space.
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
			// Skip the rule: ordinary text never uses it. Its result or one of its two tokens is not in
			// the vocabulary or is not a normal token, but a control token, for example.
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
	if !b.vocab.byteText {
		b.cut.words(strings.ReplaceAll(text, " ", "▁"), func(word string) { b.encodeRaw(to, word, &m) })
		return
	}
	var spelled []byte
	b.cut.words(text, func(word string) {
		if b.whole {
			spelled = appendByteText(spelled[:0], word)
			if id, ok := b.vocab.plain[string(spelled)]; ok {
				to.ids = append(to.ids, id)
				return
			}
		}
		for word != "" {
			n := min(len(word), maxMergeBytes)
			b.encodeWord(to, word[:n], &m)
			word = word[n:]
		}
	})
}

// encodeRaw encodes a word; the merges begin with its characters. A word that has only line feeds
// and is a token becomes this token, without merges.
func (b *bytePair) encodeRaw(to *encoding, word string, m *merger) {
	if id, ok := b.vocab.plain[word]; ok && strings.Trim(word, "\n") == "" {
		to.ids = append(to.ids, id)
		return
	}
	m.encodeCharacters(to, b.vocab, word, b)
}

// encodeWord appends the ids of a word. A byte without a token gives no id, as in llama.cpp and
// Hugging Face; it is appended to to.lost. Tokens of several bytes cannot contain such a byte,
// because they are merged from bytes that have a token.
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

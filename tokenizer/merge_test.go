package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naiveBytePair is the definition of BPE: join the leftmost pair of the lowest rank, then look at
// everything again.
func naiveBytePair(b *bytePair, word string) []int32 {
	var ids []int32
	for i := range len(word) {
		ids = append(ids, b.vocab.byteID[word[i]])
	}
	for {
		best, at := merge{rank: 1 << 30}, -1
		for i := 0; i+1 < len(ids); i++ {
			if m, ok := b.rules[pair{ids[i], ids[i+1]}]; ok && m.rank < best.rank {
				best, at = m, i
			}
		}
		if at < 0 {
			return ids
		}
		ids = slices.Replace(ids, at, at+2, best.id)
	}
}

// naiveSentencePiece does the same with scores, on the texts of the pieces.
func naiveSentencePiece(spec Spec, s *sentencePiece, text string) []int32 {
	var parts []string
	for _, r := range text {
		parts = append(parts, string(r))
	}
	for {
		best, at := float32(0), -1
		for i := 0; i+1 < len(parts); i++ {
			id, ok := s.vocab.plain[parts[i]+parts[i+1]]
			if ok && (at < 0 || spec.Scores[id] > best) {
				best, at = spec.Scores[id], i
			}
		}
		if at < 0 {
			break
		}
		parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
	}
	var ids []int32
	for _, part := range parts {
		if id, ok := s.vocab.plain[part]; ok {
			ids = append(ids, id)
			continue
		}
		for i := range len(part) {
			ids = append(ids, s.vocab.byteID[part[i]])
		}
	}
	return ids
}

// Words of few different letters meet many rules of equal and of competing rank.
func TestMergeEqualsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		var text strings.Builder
		for range 1 + rng.IntN(60) {
			text.WriteString([]string{"e", "t", "h", "a", "n", " ", "i", "o", "r", "s", "日", "é"}[rng.IntN(12)])
		}
		return text.String()
	}
	bpe := mustNew(t, readBytePair(t).spec("qwen2")).model.(*bytePair)
	spec := readSentencePiece(t).spec()
	// Scores that tie: the leftmost pair must win.
	tied := spec
	tied.Scores = slices.Clone(spec.Scores)
	for i := range tied.Scores {
		tied.Scores[i] = float32(int(tied.Scores[i]) / 100)
	}
	for range 3000 {
		text := word()
		var got encoding
		bpe.encodeWord(&got, text, new(merger))
		if want := naiveBytePair(bpe, text); !slices.Equal(got.ids, want) {
			t.Fatalf("byte pair: %q gives %d, want %d", text, got.ids, want)
		}
		text = strings.ReplaceAll(text, " ", "▁")
		for _, spec := range []Spec{spec, tied} {
			sp := mustNew(t, spec).model.(*sentencePiece)
			var got encoding
			new(merger).encodePart(&got, sp.vocab, text, sp)
			if want := naiveSentencePiece(spec, sp, text); !slices.Equal(got.ids, want) {
				t.Fatalf("sentence piece: %q gives %d, want %d", text, got.ids, want)
			}
		}
	}
}

// If a rule is listed twice, the first place counts. Of two equal tokens, the first is used.
func TestFirstOfDuplicatesWins(t *testing.T) {
	types := []int32{TypeNormal, TypeNormal, TypeNormal}
	tok := mustNew(t, tinySpec([]string{"ab", "bc", "ab"}, types, "a b", "b c", "a b"))
	checkIDs(t, tok, "abc", tok.Encode("abc"), []int32{256, 'c'})
	tok = mustNew(t, tinySpec([]string{"ab", "bc", "ab"}, types, "b c", "a b"))
	checkIDs(t, tok, "abc", tok.Encode("abc"), []int32{'a', 257})
}

// joins counts the calls of a rule.
type joins struct {
	rules
	count int
}

func (j *joins) join(raw string, left, right int32) (int32, int32, bool) {
	j.count++
	return j.rules.join(raw, left, right)
}

// A word without a space costs work in proportion to its length.
func TestMergeIsLinear(t *testing.T) {
	bpe := mustNew(t, readBytePair(t).spec("qwen2")).model.(*bytePair)
	for _, letters := range []string{"a", "the", "=", "ab"} {
		word := strings.Repeat(letters, 200_000/len(letters))
		var m merger
		m.begin(len(word))
		for i := range int32(len(word)) {
			m.set(i, i-1, 1, bpe.vocab.byteID[word[i]])
		}
		counted := &joins{rules: bpe}
		m.merge(word, counted)
		if counted.count > 3*len(word) || cap(m.queue) > 4*len(word) {
			t.Errorf("%q: %d rules asked for and a queue of %d for %d bytes, want at most 3 and 4 a byte", letters, counted.count, cap(m.queue), len(word))
		}
	}
}

// A text longer than the bound of one merge loses nothing. A byte-level vocabulary may cut a
// character there; the text is the same.
func TestLongTextIsWhole(t *testing.T) {
	texts := []string{
		strings.Repeat("x", maxMergeBytes+5), strings.Repeat("日", maxMergeBytes/3+9), strings.Repeat("1", 100_000), strings.Repeat(" ", 100_000),
	}
	for _, tok := range []*Tokenizer{mustNew(t, readBytePair(t).spec("llama-bpe")), mustNew(t, readSentencePiece(t).spec())} {
		for _, text := range texts {
			if got := tok.Decode(tok.Encode(text)); got != text {
				t.Errorf("%d × %.3q come back as %d bytes", len(text), text, len(got))
			}
		}
	}
}

package spec

import (
	"context"
	"fmt"
	"math"
	"slices"

	"specula/engine/sample"
)

// maxGrams bounds the index of an Ngram; at about 16 bytes each it stays under some 64 MiB.
const maxGrams = 1 << 21

// Ngram proposes by prompt lookup: it looks for the latest earlier place where the context's last tokens stood and guesses
// that what came behind them there comes again. It has no model, costs next to nothing and is strong where a reply repeats
// its prompt, or what was said before: edits, summaries, code. (Saxena, "Prompt lookup decoding", 2023)
type Ngram struct {
	longest, shortest int
	nothing           string  // what is said when nothing is found
	corpus            *Corpus // earlier texts; nil: none
	// text is what is searched: the earlier texts that the context does not repeat, each with a border behind, then the context.
	text  []int32
	start int // of the context
	// grams maps the hash of the n tokens in front of a position to that position, for every n and each position that a token
	// stands at. A later position replaces an earlier one.
	grams   map[uint64]int32
	most    int // size at which the older half of grams is dropped
	indexed int // positions below this are in grams
	oldest  int // except those below this, which were dropped
}

// NewNgram returns a proposer that looks for matches of longest down to shortest tokens, 1 ≤ shortest ≤ longest.
func NewNgram(longest, shortest int) *Ngram {
	if shortest < 1 || longest < shortest {
		panic(fmt.Sprintf("spec: n-grams of %d down to %d tokens", longest, shortest))
	}
	return &Ngram{
		longest: longest, shortest: shortest, nothing: fmt.Sprintf("the last %d tokens did not occur before", shortest),
		grams: map[uint64]int32{}, most: maxGrams,
	}
}

// Recalling lets g look into a corpus, too.
func (g *Ngram) Recalling(c *Corpus) *Ngram {
	g.corpus = c
	return g
}

func (g *Ngram) Name() string { return "ngram" }

// Free says that a draft costs nothing.
func (g *Ngram) Free() {}

// Begin indexes what was said before and the context. An index that has the beginning of it goes on.
func (g *Ngram) Begin(_ context.Context, tokens []int32, _ func(done, total int)) (reused int, err error) {
	var text []int32
	for _, earlier := range g.corpus.since(0) {
		if !begins(tokens, earlier) {
			text = append(append(text, earlier...), border)
		}
	}
	start := len(text)
	if text = append(text, tokens...); !begins(text, g.text) {
		if err := g.Reset(); err != nil {
			return 0, err
		}
	}
	g.start = start
	return 0, g.Committed(text[len(g.text):])
}

// Propose continues the longest match. The continuation may run into the draft itself, which repeats a short cycle.
func (g *Ngram) Propose(_ context.Context, ask Ask) (Draft, error) {
	var draft Draft
	at, n := g.match()
	if n == 0 {
		draft.Stop = g.nothing
		return draft, nil
	}
	// The longer the match, the surer; how sure that is, whoever asks learns.
	sure := 1 - math.Exp2(-float64(n))
	draft.Tokens, draft.Q = make([]int32, 0, ask.Gamma), make([]sample.Dist, 0, ask.Gamma)
	draft.Confidence = make([]float64, 0, ask.Gamma)
	for len(draft.Tokens) < ask.Gamma {
		next := at + len(draft.Tokens)
		id := int32(0)
		if next < len(g.text) {
			id = g.text[next]
		} else {
			id = draft.Tokens[next-len(g.text)]
		}
		if id == border {
			draft.Stop = "the earlier chat that matches ended there"
			break
		}
		draft.Tokens = append(draft.Tokens, id)
		draft.Q = append(draft.Q, sample.OneHot(id))
		draft.Confidence = append(draft.Confidence, sure)
		if ask.IsStop != nil && ask.IsStop(id) {
			draft.Stop = stopEnds
			break
		}
	}
	return draft, nil
}

// match returns the position behind the latest earlier occurrence of the context's last n tokens, for the largest n there is. Where n tokens
// occur their last n−1 do, too, so it begins with the shortest, which most often is all there is.
func (g *Ngram) match() (at, n int) {
	for next := g.shortest; next <= min(g.longest, len(g.text)-g.start); next++ {
		tail := g.text[len(g.text)-next:]
		behind, ok := g.grams[hash(tail)]
		if !ok || !slices.Equal(tail, g.text[int(behind)-next:behind]) { // hashes may collide
			break
		}
		at, n = int(behind), next
	}
	return at, n
}

// Committed adds tokens to context and index.
func (g *Ngram) Committed(tokens []int32) error {
	g.text = append(g.text, tokens...)
	for ; g.indexed < len(g.text); g.indexed++ {
		if len(g.grams) >= g.most {
			g.dropOlderHalf()
		}
		g.index(g.indexed)
	}
	return nil
}

// index enters the grams in front of position at, unless nothing of theirs stands there.
func (g *Ngram) index(at int) {
	if g.text[at] == border {
		return
	}
	for n := 1; n <= min(g.longest, at) && g.text[at-n] != border; n++ {
		if n >= g.shortest {
			g.grams[hash(g.text[at-n:at])] = int32(at)
		}
	}
}

// dropOlderHalf makes room by forgetting where the older half of the indexed context stood.
func (g *Ngram) dropOlderHalf() {
	g.oldest = (g.oldest + g.indexed) / 2
	clear(g.grams)
	for at := g.oldest; at < g.indexed; at++ {
		g.index(at)
	}
}

// hash is FNV-1a over tokens.
func hash(tokens []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, id := range tokens {
		h = (h ^ uint64(uint32(id))) * 1099511628211
	}
	return h ^ uint64(len(tokens))
}

// Len is 0: there is no cache.
func (g *Ngram) Len() int { return 0 }

func (g *Ngram) Reset() error {
	g.text, g.start = g.text[:0], 0
	clear(g.grams)
	g.indexed, g.oldest = 0, 0
	return nil
}

func (g *Ngram) Close() error { return nil }

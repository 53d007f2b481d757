package spec

import (
	"context"
	"fmt"
	"math"

	"specula/engine/sample"
)

// mostPlaces limits how many positions of the text one search compares, the latest first. In a long text a
// frequent token occurs at very many positions.
const mostPlaces = 1 << 12

// Ngram proposes by prompt lookup: it finds the latest earlier occurrence of the context's last tokens,
// and proposes the tokens that followed there. It has no model and costs next to nothing. It is strong
// where a reply repeats its prompt or an earlier text: edits, summaries, code. (Saxena, "Prompt
// lookup decoding", 2023)
type Ngram struct {
	noModel
	longest, shortest int     // lengths of matches, in tokens: the longest is tried first
	nothing           string  // Draft.Stop when nothing is found
	corpus            *Corpus // earlier texts; nil if there are none
	// text is what is searched: the corpus texts that are not the beginning of the context, each with
	// a border after it, then the context.
	text  []int32
	start int // index in text where the context begins
	// earlier gives, for each position of text, the position after the previous occurrence of the same
	// token; 0 if there is none. A search follows these links back from the last token. So it touches
	// little memory, which matters because a pass over the weights has filled the processor's caches.
	earlier []int32
	latest  []int32 // for each token: the position after its last occurrence; 0 if it has none

	draft Draft // the last draft; the next one uses its memory again
}

// NewNgram returns a proposer that looks for matches of longest tokens first, then of fewer, down to
// shortest. It panics unless 1 ≤ shortest ≤ longest.
func NewNgram(longest, shortest int) *Ngram {
	if shortest < 1 || longest < shortest {
		panic(fmt.Sprintf("spec: n-grams of %d down to %d tokens", longest, shortest))
	}
	return &Ngram{longest: longest, shortest: shortest, nothing: fmt.Sprintf("the last %d tokens did not occur before", shortest)}
}

// Recalling makes g search a corpus, too. It returns g.
func (g *Ngram) Recalling(c *Corpus) *Ngram {
	g.corpus = c
	return g
}

func (g *Ngram) Name() string { return "ngram" }

// Begin indexes the texts of the corpus and the context. If they begin with what is already indexed, it
// adds only the rest.
func (g *Ngram) Begin(tokens []int32) (reused int, err error) {
	var text []int32
	for _, chat := range g.corpus.since(0) {
		if !begins(tokens, chat) {
			text = append(append(text, chat...), border)
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

// Propose continues the longest match. Where the text ends, the continuation goes on with the first
// tokens of the draft itself, and so repeats a short cycle.
func (g *Ngram) Propose(_ context.Context, ask Ask) (Draft, error) {
	at, n := g.match()
	if n == 0 {
		return Draft{Stop: g.nothing}, nil
	}
	draft := &g.draft
	draft.Tokens, draft.Q, draft.Confidence, draft.Stop = draft.Tokens[:0], draft.Q[:0], draft.Confidence[:0], ""
	// A longer match is surer. The controller of γ measures how sure exactly.
	sure := 1 - math.Exp2(-float64(n))
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
	return *draft, nil
}

// match finds the longest match: the context's last n tokens, at least shortest and at most longest, that
// also occur earlier. It returns the position after their latest earlier occurrence, and n; n is 0 if there
// is no match.
func (g *Ngram) match() (at, n int) {
	if len(g.text) == g.start {
		return 0, 0
	}
	place := int(g.earlier[len(g.text)-1])
	for range mostPlaces {
		if place == 0 || n == g.longest {
			break
		}
		if alike := g.alike(place); alike > n && alike >= g.shortest {
			at, n = place, alike
		}
		place = int(g.earlier[place-1])
	}
	return at, n
}

// alike counts how many tokens of text before index place equal the last tokens of the context, at most
// g.longest. The caller knows that at least one does.
func (g *Ngram) alike(place int) int {
	end := len(g.text)
	most := min(g.longest, place, end-g.start) // only tokens of the context count, and no border is among them
	n := 1
	for n < most && g.text[place-1-n] == g.text[end-1-n] {
		n++
	}
	return n
}

// Committed adds tokens to the context and to the index.
func (g *Ngram) Committed(tokens []int32) error {
	g.text = append(g.text, tokens...)
	for at := len(g.earlier); at < len(g.text); at++ {
		id := g.text[at]
		if id == border {
			g.earlier = append(g.earlier, 0)
			continue
		}
		if int(id) >= len(g.latest) {
			g.latest = append(g.latest, make([]int32, int(id)+1-len(g.latest))...)
		}
		g.earlier = append(g.earlier, g.latest[id])
		g.latest[id] = int32(at + 1)
	}
	return nil
}

func (g *Ngram) Reset() error {
	for _, id := range g.text {
		if id != border {
			g.latest[id] = 0
		}
	}
	g.text, g.earlier, g.start = g.text[:0], g.earlier[:0], 0
	return nil
}

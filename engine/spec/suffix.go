package spec

import (
	"context"
	"fmt"

	"specula/engine/sample"
)

const (
	// maxSuffixTokens limits the automaton of a Suffix. With so many tokens it took 15 to 18 MiB, or 123 to
	// 143 bytes a token. This was measured with random tokens of three kinds (150,000 ids, 50,000 ids by
	// Zipf's law, two ids), and with a sequence that repeats itself.
	maxSuffixTokens = 1 << 17
	// maxMatches limits how many matches of different lengths Propose compares, the longest first.
	maxMatches = 8
)

// Suffix proposes what most often followed earlier occurrences of the context's last tokens. It looks in
// the prompt, in the reply so far, and in earlier chats of the session. Unlike Ngram it counts
// occurrences, so it knows how sure it is and ends its draft accordingly. It has no model, and is strong
// where text repeats: code, edits, agents. (Oliaro et al., "SuffixDecoding", 2024)
//
// A token that followed a match of L tokens c times out of n gets the probability c / (n + 1/L). The term
// 1/L stands for doubt, which is smaller for a longer match. So a match that occurred once is trusted
// for about as many tokens as it is long.
type Suffix struct {
	noModel
	corpus    *Corpus
	known     int // how many texts had ever been added to the corpus when Begin last read it
	context   []int32
	automaton *automaton
	most      int // number of tokens at which the automaton is rebuilt
}

// NewSuffix returns a proposer that also searches corpus. A nil corpus is an empty one.
func NewSuffix(corpus *Corpus) *Suffix {
	return &Suffix{corpus: corpus, automaton: newAutomaton(countedLength), most: maxSuffixTokens}
}

func (s *Suffix) Name() string { return "suffix" }

// Begin reads the new texts of the corpus, then the context. A beginning that the automaton has
// already takes no room.
func (s *Suffix) Begin(tokens []int32) (reused int, err error) {
	for _, text := range s.corpus.since(s.known) {
		s.read(text)
	}
	s.known = s.corpus.count()
	s.context = append(s.context[:0], tokens...)
	s.read(tokens)
	s.bound()
	return 0, nil
}

// read adds one sequence to the automaton.
func (s *Suffix) read(tokens []int32) {
	s.automaton.start()
	for _, id := range tokens {
		s.automaton.add(id)
	}
}

// Propose continues one of the maxMatches longest matches: the one that gives the largest expected number
// of right tokens. The draft goes on while the chance that all its tokens are right is at least ask.Trust.
func (s *Suffix) Propose(_ context.Context, ask Ask) (Draft, error) {
	var best Draft
	promised := 0.0
	match := s.automaton.matched(s.automaton.tail)
	if match.length == 0 {
		return Draft{Stop: "the last token did not occur before"}, nil
	}
	for range maxMatches {
		if draft, tokens := s.continued(match, ask); tokens > promised {
			best, promised = draft, tokens
		} else if best.Stop == "" {
			best.Stop = draft.Stop // the reason of the longest match, if no match gives a draft
		}
		match = s.automaton.matched(s.automaton.shorter(match))
		if match.length == 0 {
			break
		}
	}
	return best, nil
}

// continued drafts along a match. expected is the expected number of right tokens in the draft.
func (s *Suffix) continued(match stretch, ask Ask) (draft Draft, expected float64) {
	chance := 1.0
	for len(draft.Tokens) < ask.Gamma {
		id, following, count, total := s.automaton.next(match)
		share := float64(count) / (float64(total) + 1/float64(match.length))
		if chance*share < ask.Trust {
			draft.Stop = fmt.Sprintf("a match of %d tokens went on like this %d of %d times: together %.0f %% sure, and suffix_trust is %.0f %%",
				match.length, count, total, 100*chance*share, 100*ask.Trust)
			break
		}
		chance *= share
		expected += chance
		draft.Tokens = append(draft.Tokens, id)
		draft.Q = append(draft.Q, sample.OneHot(id))
		draft.Confidence = append(draft.Confidence, share)
		if ask.IsStop != nil && ask.IsStop(id) {
			draft.Stop = stopEnds
			break
		}
		if match = s.automaton.matched(following); match.length == 0 {
			draft.Stop = "nothing came after this before"
			break
		}
	}
	return draft, expected
}

// Committed adds tokens to the context. Nothing needs to be rolled back, because drafts do not enter
// the automaton.
func (s *Suffix) Committed(tokens []int32) error {
	s.context = append(s.context, tokens...)
	for _, id := range tokens {
		s.automaton.add(id)
	}
	s.bound()
	return nil
}

// bound limits the automaton. A full automaton is rebuilt with half as many tokens: the newest part of
// the context and, if there is room, the newest texts of the corpus.
func (s *Suffix) bound() {
	if s.automaton.tokens < s.most {
		return
	}
	newest := s.context[max(0, len(s.context)-s.most/2):]
	room := s.most/2 - len(newest)
	texts := s.corpus.since(0)
	first := len(texts)
	for first > 0 && len(texts[first-1]) <= room {
		first--
		room -= len(texts[first])
	}
	s.automaton = newAutomaton(countedLength)
	for _, text := range texts[first:] {
		s.read(text)
	}
	s.read(newest)
}

// Reset forgets everything. The next Begin reads the texts of the corpus again.
func (s *Suffix) Reset() error {
	s.context, s.known, s.automaton = s.context[:0], 0, newAutomaton(countedLength)
	return nil
}

package spec

import (
	"context"
	"fmt"

	"specula/engine/sample"
)

const (
	// maxSuffixTokens bounds the automaton of a Suffix; at about 160 bytes a token it stays under some 24 MiB.
	maxSuffixTokens = 1 << 17
	// maxMatches bounds how many matches of different length are compared.
	maxMatches = 8
)

// Suffix proposes what came most often behind the longest ends of the context that occurred before: in the prompt, in the reply so
// far or in the session's earlier chats. Unlike Ngram it counts, so it knows how sure it is and goes on for as long as that is worth it.
// It has no model and is strong where text repeats: code, edits, agents. (Oliaro et al., "SuffixDecoding", 2024)
//
// The share of a continuation that followed a match of L tokens c times out of n is c / (n + 1/L): one doubt that weighs less the
// longer the match is. So a match that occurred once is trusted for about as many tokens as it has itself.
type Suffix struct {
	corpus    *Corpus
	known     int // texts of the corpus that are in the automaton
	context   []int32
	automaton *automaton
	most      int // tokens at which the automaton is made anew
}

// NewSuffix returns a proposer that also looks into corpus, which may be nil.
func NewSuffix(corpus *Corpus) *Suffix {
	return &Suffix{corpus: corpus, automaton: newAutomaton(countedLength), most: maxSuffixTokens}
}

func (s *Suffix) Name() string { return "suffix" }

// Free says that a draft costs nothing.
func (s *Suffix) Free() {}

// Begin reads what was said elsewhere, then the context, of which only what is new takes room.
func (s *Suffix) Begin(_ context.Context, tokens []int32, _ func(done, total int)) (reused int, err error) {
	for _, text := range s.corpus.since(s.known) {
		s.read(text)
	}
	s.known = s.corpus.count()
	s.context = append(s.context[:0], tokens...)
	s.read(tokens)
	s.bound()
	return 0, nil
}

// read takes one sequence in.
func (s *Suffix) read(tokens []int32) {
	s.automaton.start()
	for _, id := range tokens {
		s.automaton.add(id)
	}
}

// Propose continues the match that promises the most tokens, for as long as the chance of all of them is at least ask.Trust.
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
			best.Stop = draft.Stop // of the longest match, if none serves
		}
		match = s.automaton.matched(s.automaton.shorter(match))
		if match.length == 0 {
			break
		}
	}
	return best, nil
}

// continued follows a match, and returns how many tokens of the draft are expected to hold.
func (s *Suffix) continued(match stretch, ask Ask) (draft Draft, expected float64) {
	chance := 1.0
	for len(draft.Tokens) < ask.Gamma {
		id, behind, count, total := s.automaton.next(match)
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
		if match = s.automaton.matched(behind); match.length == 0 {
			draft.Stop = "nothing came behind this before"
			break
		}
	}
	return draft, expected
}

// Committed adds tokens to the context. Nothing ever needs to be taken back: drafts do not enter the automaton.
func (s *Suffix) Committed(tokens []int32) error {
	s.context = append(s.context, tokens...)
	for _, id := range tokens {
		s.automaton.add(id)
	}
	s.bound()
	return nil
}

// bound keeps the automaton from growing without end. When it is full it is made anew of half as much: the newest part of the
// context, then, as far as there is room, the newest texts of the corpus.
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

// Len is 0: there is no cache.
func (s *Suffix) Len() int { return 0 }

// Reset forgets everything; what the corpus has is read again by the next Begin.
func (s *Suffix) Reset() error {
	s.context, s.known, s.automaton = s.context[:0], 0, newAutomaton(countedLength)
	return nil
}

func (s *Suffix) Close() error { return nil }

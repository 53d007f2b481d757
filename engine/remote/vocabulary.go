package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"specula/tokenizer"
)

// Agree checks that t has the same tokens as the server for some texts of several kinds, and for some control
// tokens. Prompts are sent as ids, so with another vocabulary the model would read nonsense.
func (s *Server) Agree(ctx context.Context, t *tokenizer.Tokenizer) error {
	if !s.Watches() {
		return s.errScores()
	}
	if s.vocab < 0 || s.vocab > mostVocab || s.vocab > 0 && s.vocab < t.VocabSize() {
		return fmt.Errorf("the vocabulary here has %d tokens and the server's %d: name the file of the server's model by --vocabulary", t.VocabSize(), s.vocab)
	}
	if s.vocab == 0 {
		s.vocab = t.VocabSize()
	}
	for _, text := range probes() {
		theirs, err := s.tokenize(ctx, text, false)
		var refused *Refused
		if s.kind == SGLang && errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			return nil // an older release without /tokenize: nothing was compared
		}
		if err != nil {
			return fmt.Errorf("comparing vocabularies: %w", err)
		}
		if mine := t.EncodeNext(text); !slices.Equal(mine, theirs) && !slices.Equal(t.Encode(text), theirs) {
			return fmt.Errorf("the server has other tokens than the vocabulary here: %q is %v there and %v here; name the file of the server's model by --vocabulary", text, theirs[:min(len(theirs), mostListed)], mine)
		}
	}
	for id, seen := int32(0), 0; int(id) < t.VocabSize() && seen < mostControls; id++ {
		if !t.IsControl(id) {
			continue
		}
		seen++
		theirs, err := s.tokenize(ctx, t.Token(id), true)
		if err != nil {
			return fmt.Errorf("comparing control tokens: %w", err)
		}
		if !slices.Contains(theirs, id) {
			return fmt.Errorf("the server has no control token %q with the id %d, but the vocabulary here has: name the file of the server's model by --vocabulary", t.Token(id), id)
		}
	}
	s.compared = true
	if !s.kind.scores() {
		return nil
	}
	s.spelling = newSpelling(t)
	if err := s.chooseSafe(t); err != nil {
		return err
	}
	if s.kind == Llama {
		return s.compareSpelling(ctx)
	}
	return s.findMostRow(ctx)
}

// comparedSpelling is how many tokens' bytes are compared.
const comparedSpelling = 64

// compareSpelling finds out whether the server's spelling of tokens can be relied on.
func (s *Server) compareSpelling(ctx context.Context) error {
	answers, err := s.askLlama(ctx, [][]int32{{s.safe}}, min(comparedSpelling, s.vocab), nil)
	if err != nil {
		return fmt.Errorf("comparing the spelling of tokens: %w", err)
	}
	for _, a := range answers {
		for _, at := range a.Places {
			s.spelling.compare(at.Top)
		}
	}
	return nil
}

// errScores returns an error that says that the server cannot score drafts, and what to use instead.
func (s *Server) errScores() error {
	if s.Watches() {
		return fmt.Errorf("%s at %s cannot score drafts that are made here: watch its own speculation by remote.watch (--watch), or use %s or %s", s.kind, s.base, Llama, VLLM)
	}
	return fmt.Errorf("%s at %s can neither score drafts that are made here nor take token ids: use %s or %s, or to watch only %s", s.kind, s.base, Llama, VLLM, SGLang)
}

// mostVocab is the largest vocabulary that a server may claim, in tokens. Rows of that length are made here.
const mostVocab = 1 << 22

// mostControls is how many control tokens Agree compares, with one request for each. A vocabulary may
// have hundreds, most of them unused.
const mostControls = 6

// probes are texts that different vocabularies split into different tokens.
func probes() []string {
	return []string{"Hello, world!", "The quick brown fox doesn't jump over 1234567 lazy dogs.",
		"for i := range 10 {\n\tfmt.Println(i)\n}\n\n", "Grüße aus Köln – naïve café", "日本語の文章。 Привет"}
}

func (s *Server) tokenize(ctx context.Context, text string, special bool) ([]int32, error) {
	var answer struct {
		Tokens []int32 `json:"tokens"`
	}
	if s.kind != Llama {
		err := s.post(ctx, "/tokenize", map[string]any{"model": s.model, "prompt": text, "add_special_tokens": false}, &answer)
		return answer.Tokens, err
	}
	err := s.post(ctx, "/tokenize", map[string]any{"content": text, "add_special": false, "parse_special": special}, &answer)
	return answer.Tokens, err
}

// chooseSafe sets s.safe to a token of whole characters.
func (s *Server) chooseSafe(t *tokenizer.Tokenizer) error {
	for _, text := range []string{"a", "the", "1", "."} {
		if ids := t.EncodeNext(text); len(ids) == 1 && string(t.Bytes(ids[0])) == text {
			s.safe = ids[0]
			return nil
		}
	}
	return fmt.Errorf("the vocabulary has no token for a single letter, which asking llama-server for scores needs")
}

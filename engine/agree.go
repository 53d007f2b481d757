package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"specula/engine/agreement"
	"specula/engine/config"
)

// Agreement measures α of the engine's pair on dialogues; see package agreement. Only the tokens of the assistant's turns
// count, with the token that ends each turn. progress, which may be nil, is called with the number of dialogues done.
func (e *Engine) Agreement(ctx context.Context, talks []agreement.Talk, temperatures []float64, progress func(done, total int)) (*agreement.Report, error) {
	switch {
	case e.draft == nil:
		return nil, fmt.Errorf("there is no draft model to compare with the target: %s", e.ready.DraftRefused)
	case e.lexicon != nil:
		return nil, errors.New("draft and target have different vocabularies; their agreement can be measured only over one")
	}
	var list []agreement.Dialogue
	for i, talk := range talks {
		d, err := e.markReplies(talk.Turns)
		if err != nil {
			return nil, fmt.Errorf("dialogue %d of %d: %w", i+1, len(talks), err)
		}
		d.Source = talk.Source
		list = append(list, d)
	}
	pair := agreement.Pair{
		Target: e.target, Draft: e.draft, Rows: config.MaxGamma + 1,
		Vocab: min(e.tokens.VocabSize(), e.target.Config().Vocab, e.draft.Config().Vocab),
	}
	return agreement.Measure(ctx, pair, list, temperatures, progress)
}

// markReplies turns a dialogue into the tokens that a chat would have had, and marks what the assistant wrote of it: from where the
// generation prompt ends to the next stop token.
func (e *Engine) markReplies(turns []Message) (agreement.Dialogue, error) {
	segments, err := e.template.Render(turns, false)
	if err != nil {
		return agreement.Dialogue{}, fmt.Errorf("rendering it by %s: %w", e.template.Name(), err)
	}
	d := agreement.Dialogue{Tokens: e.tokens.EncodeSegments(segments)}
	d.Judged = make([]bool, len(d.Tokens))
	for i, turn := range turns {
		if turn.Role != "assistant" {
			continue
		}
		prompt, err := e.encode(e.template, turns[:i])
		if err != nil {
			return d, err
		}
		if len(prompt) > len(d.Tokens) || !slices.Equal(prompt, d.Tokens[:len(prompt)]) {
			return d, fmt.Errorf("the template %s writes what is in front of turn %d differently when the dialogue goes on", e.template.Name(), i+1)
		}
		for at := len(prompt); at < len(d.Tokens); at++ {
			d.Judged[at] = true
			if e.stops[d.Tokens[at]] {
				break
			}
		}
	}
	return d, nil
}

// Answer writes a reply to a conversation with other settings, given as names and values by turns, and from empty caches. The settings
// are afterwards as they were.
func (s *Session) Answer(ctx context.Context, conversation []Message, settings ...string) (string, error) {
	ended, err := s.answer(ctx, conversation, settings...)
	return ended.Text, err
}

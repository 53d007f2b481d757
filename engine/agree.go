package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"specula/engine/agreement"
	"specula/engine/config"
)

// Agreement measures α of the engine's pair on dialogues; see package agreement. It counts only the tokens
// of the assistant's turns, with the token that ends each turn. progress gets the number of dialogues
// done, and may be nil. Agreement returns an error if the target is on a server, if there is no draft
// model, or if the draft model's vocabulary differs from the target's.
func (e *Engine) Agreement(ctx context.Context, talks []agreement.Talk, temperatures []float64, progress func(done, total int)) (*agreement.Report, error) {
	switch {
	case e.target == nil:
		return nil, errOnServer
	case e.draft == nil:
		return nil, fmt.Errorf("there is no draft model to compare with the target: %s", e.ready.DraftRefused)
	case e.lexicon != nil:
		return nil, errors.New("draft model and target have different vocabularies; their agreement can be measured only over one")
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
		Vocab: min(e.tokens.VocabSize(), e.shape.Vocab, e.draft.Config().Vocab),
	}
	return agreement.Measure(ctx, pair, list, temperatures, progress)
}

// markReplies returns the tokens of a dialogue as they stand in a chat. The field Judged marks the tokens that
// the assistant wrote: in each of its turns, all tokens up to and including the first stop token.
// markReplies returns an error if the template writes earlier turns differently once the dialogue goes on.
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

// Answer empties the session's caches, writes a reply to a conversation and returns its text. settings
// alternates names and values; they hold for this reply only.
func (s *Session) Answer(ctx context.Context, conversation []Message, settings ...string) (string, error) {
	ended, err := s.answer(ctx, conversation, settings...)
	return ended.Text, err
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/round"
	"specula/tokenizer/chat"
)

// guided reports whether guidance is on.
func guided(c config.Config) bool { return c.Guidance.Scale != 1 }

var errGuidanceRemote = errors.New("guidance reads the reply twice in one pass, which needs the target on this machine: set guidance.scale to 1")

// guidedGamma is the longest draft under guidance. A pass has at most MaxGamma+1 rows, and a guided pass needs
// two rows for each token.
const guidedGamma = (config.MaxGamma+1)/2 - 1

// companionLen is the length of the companion's context: negative prompt and reply; 0 without guidance.
func (r *reply) companionLen() int {
	if r.negative == nil || !guided(r.config) {
		return 0
	}
	return len(r.negative) + r.written()
}

// followNegative lets the companion read its context without the last token. The target's cache lacks
// the last token of its context, too.
func (r *reply) followNegative(ctx context.Context) error {
	if !guided(r.config) {
		return nil
	}
	s := r.session
	if s.companion == nil {
		local, here := s.target.(*round.Local)
		if !here {
			return errGuidanceRemote
		}
		var err error
		if s.companion, err = round.NewGuided(local); err != nil {
			return err
		}
	}
	if r.negative == nil {
		var err error
		if r.negative, err = s.negativePrompt(ctx, r.request.Messages, r.config); err != nil {
			return err
		}
	}
	if n, room := r.companionLen(), s.target.Cap(); n > room {
		return fmt.Errorf("the negative prompt and the reply have %d tokens and the context holds %d: shorten guidance.negative, or set guidance.scale to 1",
			n, room)
	}
	s.companion.Scale, s.companion.Longer = r.config.Guidance.Scale, len(r.negative)-r.prompt
	context := slices.Concat(r.negative, r.reply())
	return s.companion.Follow(ctx, context[:len(context)-1], func(read func(progress func(done, total int)) error) error {
		return r.timed("guidance", &r.totals.PrefillMS, read)
	})
}

// negativePrompt returns the tokens of the conversation with the negative prompt as system prompt. If
// guidance.negative is empty, it returns the tokens of a conversation with one empty message of the
// user and no system prompt.
func (s *Session) negativePrompt(ctx context.Context, messages []chat.Message, c config.Config) ([]int32, error) {
	c.Model.System = c.Guidance.Negative
	if c.Guidance.Negative == "" {
		messages = []chat.Message{{Role: "user"}}
	}
	tokens, _, err := s.engine.fit(ctx, messages, c, s.target.Cap())
	if err != nil {
		return nil, fmt.Errorf("the prompt with guidance.negative: %w", err)
	}
	if len(tokens) == 0 { // a template without marks makes nothing of an empty message
		return nil, errors.New("the prompt with guidance.negative has no tokens: give guidance.negative a text, or set guidance.scale to 1")
	}
	return tokens, nil
}

package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/tokenizer/chat"
)

// Classifier-free guidance (Sanchez et al. 2023, «Stay on topic with classifier-free guidance»): the target reads the reply
// twice, after the prompt and after a second, negative prompt. Every logit becomes negative + scale · (prompt − negative). So the
// effect of the prompt grows.
//
// The second sequence is the companion. It has a cache of its own, and its rows are in the same target pass, so the weights are
// read once. Drafts are not guided. The guided logits judge them, so the text is exact with any draft.

// guided reports whether guidance is on.
func guided(c config.Config) bool { return c.Guidance.Scale != 1 }

// guidedGamma is the longest draft under guidance, because a guided pass has two rows for each token.
const guidedGamma = (config.MaxGamma+1)/2 - 1

// companion is the sequence after the negative prompt.
type companion struct {
	cache  compute.Cache
	cached []int32 // what the cache holds, (cache.Len())
}

// keep cuts the cache back to the longest prefix of want that it holds.
func (c *companion) keep(want []int32) error {
	n := commonPrefix(c.cached, want)
	if err := c.cache.Truncate(n); err != nil {
		return fmt.Errorf("rolling the cache of guidance back to %d tokens: %w", n, err)
	}
	c.cached = c.cached[:n]
	return nil
}

// companionContext is what the companion reads: the negative prompt and all committed tokens.
func (r *reply) companionContext() []int32 { return slices.Concat(r.negative, r.context[r.prompt:]) }

// companionLen is the length of the companion's context; 0 without guidance.
func (r *reply) companionLen() int {
	if r.negative == nil || !guided(r.config) {
		return 0
	}
	return len(r.negative) + len(r.context) - r.prompt
}

// followNegative lets the companion read its context up to the last token, so that its cache is in the same state as the target's.
func (r *reply) followNegative(ctx context.Context) error {
	if !guided(r.config) {
		return nil
	}
	s := r.session
	if s.companion == nil {
		cache, err := r.engine.target.NewCache()
		if err != nil {
			return fmt.Errorf("allocating the cache of guidance: %w", err)
		}
		s.companion = &companion{cache: cache}
	}
	if r.negative == nil {
		tokens, err := r.negativePrompt(ctx)
		if err != nil {
			return err
		}
		r.negative = tokens
	}
	context := r.companionContext()
	want := context[:len(context)-1]
	if len(context) > s.cache.Cap() {
		return fmt.Errorf("the negative prompt and the reply have %d tokens and the context holds %d: shorten guidance.negative, or set guidance.scale to 1",
			len(context), s.cache.Cap())
	}
	c := s.companion
	if err := c.keep(want); err != nil || len(c.cached) == len(want) {
		return err
	}
	err := r.timed("guidance", &r.totals.PrefillMS, func(progress func(done, total int)) error {
		_, err := r.engine.target.Prefill(ctx, c.cache, want[len(c.cached):], progress)
		c.cached = append(c.cached, want[len(c.cached):c.cache.Len()]...)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the negative prompt: %w", err)
	}
	return nil
}

// negativePrompt is the conversation with the negative prompt in place of the system prompt. Without a negative prompt it is
// one empty message.
func (r *reply) negativePrompt(ctx context.Context) ([]int32, error) {
	c, messages := r.config, r.request.Messages
	c.Model.System = c.Guidance.Negative
	if c.Guidance.Negative == "" {
		messages = []chat.Message{{Role: "user"}}
	}
	tokens, _, err := r.engine.fit(ctx, messages, c, r.session.cache.Cap())
	if err != nil {
		return nil, fmt.Errorf("the prompt with guidance.negative: %w", err)
	}
	return tokens, nil
}

// scores are the logits that judge a round, with a count of the bytes that crossed from the device.
type scores interface {
	spec.Rows
	Moved() (bytes int64, syncs int)
}

// forward runs the target over ids, and its companion as well under guidance.
func (r *reply) forward(ctx context.Context, ids []int32, ev *event.Round) (scores, error) {
	target, s := r.engine.target, r.session
	if !guided(r.config) {
		return target.Forward(ctx, s.cache, ids)
	}
	ev.GuidanceScale = r.config.Guidance.Scale
	logits, err := target.ForwardParts(ctx, model.Part{Cache: s.cache, IDs: ids}, model.Part{Cache: s.companion.cache, IDs: ids})
	if err != nil {
		return nil, err
	}
	s.companion.cached = append(s.companion.cached, ids...)
	return &guidedScores{logits, r.config.Guidance.Scale, make([]float32, logits.Vocab())}, nil
}

// guidedScores are guided logits. The first half of the pass's rows comes after the prompt, the second half after the negative one.
type guidedScores struct {
	compute.Logits         // (2·rows, vocab)
	scale          float64 // 1 would be the first half
	negative       []float32
}

// Unwrap gives the scores that these are made of.
func (g *guidedScores) Unwrap() compute.Logits { return g.Logits }

func (g *guidedScores) Rows() int { return g.Logits.Rows() / 2 }

// Row writes guided scores: negative + scale · (prompt − negative).
func (g *guidedScores) Row(i int, dst []float32) error {
	if err := g.Logits.Row(i, dst); err != nil {
		return err
	}
	if err := g.Logits.Row(g.Rows()+i, g.negative); err != nil {
		return err
	}
	for id, without := range g.negative {
		// A masked token stays masked, and one that only the companion masks keeps its score.
		if with := dst[id]; !math.IsInf(float64(with), -1) && !math.IsInf(float64(without), -1) {
			dst[id] = float32(float64(without) + g.scale*(float64(with)-float64(without)))
		}
	}
	return nil
}

// Argmax is that of guided rows, which have to cross from the device for it.
func (g *guidedScores) Argmax(dst []int32) error {
	row := make([]float32, g.Vocab())
	for i := range dst {
		if err := g.Row(i, row); err != nil {
			return err
		}
		best, err := sample.Argmax(row)
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		dst[i] = best
	}
	return nil
}

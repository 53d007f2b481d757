package engine

import (
	"context"
	"errors"
	"slices"

	"specula/engine/config"
	"specula/engine/doctor"
	"specula/engine/event"
	"specula/tokenizer/chat"
)

// Examine checks whether the models compute correctly on this device, whether they fit into memory,
// and whether speculation gains; see package doctor. It empties the caches, writes replies of its
// own and leaves the settings as they were.
func (s *Session) Examine(ctx context.Context, o doctor.Options, progress func(what string)) (*doctor.Report, error) {
	if s.engine.target == nil {
		return nil, errOnServer
	}
	c := s.Settings()
	if len(o.Prompts) == 0 {
		return nil, errors.New("there are no prompts to examine with")
	}
	prompt, _, err := s.engine.fit(ctx, []chat.Message{{Role: "user", Content: o.Prompts[0]}}, c, s.target.Cap())
	if err != nil {
		return nil, err
	}
	subject := doctor.Subject{
		Ready: s.engine.ready, Target: s.engine.target, Draft: s.engine.draft, Heads: len(s.engine.heads) > 0, Available: s.engine.options.Backend.Info().MemoryBytes,
		Prompt: prompt, GammaMax: c.Speculation.GammaMax, Temperature: c.Sampling.Temperature,
		Reply: func(ctx context.Context, prompt string, settings ...string) (event.ReplyEnded, error) {
			return s.answer(ctx, []chat.Message{{Role: "user", Content: prompt}}, settings...)
		},
	}
	return doctor.Run(ctx, subject, o, progress)
}

// answer empties the caches and writes a reply to a conversation. The given settings hold for this reply only.
func (s *Session) answer(ctx context.Context, conversation []chat.Message, settings ...string) (ended event.ReplyEnded, err error) {
	before := s.Settings()
	var now, then []config.Value
	for pair := range slices.Chunk(settings, 2) {
		value, err := before.Get(pair[0])
		if err != nil {
			return ended, err
		}
		now = append(now, config.Value{Name: pair[0], Text: pair[1]})
		then = append(then, config.Value{Name: pair[0], Text: value})
	}
	if err := s.control.ask(now, s.loaded.check); err != nil {
		return ended, err
	}
	defer func() { err = errors.Join(err, s.control.ask(then, s.loaded.check)) }()
	if err := s.Reset(); err != nil {
		return ended, err
	}
	for e := range s.Generate(ctx, Request{Messages: conversation}) {
		switch e := e.(type) {
		case event.Failed:
			err = errors.Join(err, errors.New(e.Error))
		case event.ReplyEnded:
			ended = e
		}
	}
	return ended, errors.Join(err, ctx.Err())
}

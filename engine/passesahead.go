package engine

import (
	"context"
	"errors"

	"specula/engine/compute"
	"specula/engine/spec"
)

// passesAhead run the target in a proof as replies do: on the device, behind drafts that nobody has seen. Its session has nothing but
// the tokens of drafts from the host.
type passesAhead struct {
	session *Session
	context []int32 // everything committed; the cache holds all but the last token between rounds
	ahead   ahead   // of this round; nil if there was no draft on the device
}

func (e *Engine) newPassesAhead() (*passesAhead, error) {
	cache, err := e.target.NewCache()
	if err != nil {
		return nil, err
	}
	return &passesAhead{session: &Session{engine: e, cache: cache}}, nil
}

func (p *passesAhead) Begin(ctx context.Context, tokens []int32) error {
	cache := p.session.cache
	at := min(cache.Len(), commonPrefix(p.context, tokens), len(tokens)-1)
	p.context = append(p.context[:0], tokens...)
	if err := cache.Truncate(at); err != nil || at == len(tokens)-1 {
		return err
	}
	_, err := p.session.engine.target.Prefill(ctx, cache, tokens[at:len(tokens)-1], nil)
	return err
}

func (p *passesAhead) Ahead(ctx context.Context, ask *spec.Ask) {
	p.ahead = nil
	ask.Ahead = func(t compute.Tokens, n int) (ids []int32, q []float64, err error) {
		p.ahead, ids, q, err = runAhead(ctx, p.session.engine.target, p.session.cache, t, n, ask.Params)
		return ids, q, err
	}
}

func (p *passesAhead) Rows(ctx context.Context, ask *spec.Ask, draft spec.Draft) (spec.Rows, error) {
	if p.ahead != nil {
		return p.ahead, nil
	}
	logits, err := p.session.engine.target.Forward(ctx, p.session.cache, append([]int32{p.context[len(p.context)-1]}, draft.Tokens...))
	if err != nil {
		return nil, err
	}
	rows, _, err := p.session.judge(logits, draft, ask.Params, ask.Uniforms, ask.Round)
	return rows, err
}

func (p *passesAhead) Committed(ids []int32) error {
	p.context = append(p.context, ids...)
	return p.session.cache.Truncate(len(p.context) - 1)
}

func (p *passesAhead) Close() error {
	if p.session.tokens == nil {
		return p.session.cache.Close()
	}
	return errors.Join(p.session.tokens.Close(), p.session.cache.Close())
}

package model

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
)

// Feeds reports whether tokens can stay on the backend's device between passes. The methods Chain and
// ForwardTokens need this ability.
func (m *Model) Feeds() bool {
	_, ok := m.backend.(compute.Feeder)
	return ok && m.config.PerLayer == 0 // embeddings of single layers are looked up on the host, which needs the ids
}

// Tokens allocates room for n tokens on the device. The model must support it (Feeds).
func (m *Model) Tokens(n int) (compute.Tokens, error) { return m.backend.(compute.Feeder).Tokens(n) }

// Shares reports whether both models use the same backend, so that one can read what the other
// leaves on the device.
func (m *Model) Shares(other *Model) bool { return other != nil && m.backend == other.backend }

// Chain drafts n tokens on the device. It appends ids, 1 to PrefillRows of them, to the cache, and
// then the drafted tokens except the last. If by is nil, each drafted token is the one with the highest
// score; otherwise it is drawn with the settings by. Chain writes the last of ids to token 0 of t, and
// the drafted tokens to tokens 1 … n. It queues this work and waits for none of it. The model must
// support it (Feeds). On any error the cache keeps its length.
func (m *Model) Chain(ctx context.Context, cache compute.Cache, ids []int32, n int, t compute.Tokens, by *compute.Sampling) error {
	if len(ids) < 1 || len(ids) > m.config.PrefillRows || n < 1 {
		return fmt.Errorf("a chain of %d tokens after %d: allowed are 1 and more after 1 to %d", n, len(ids), m.config.PrefillRows)
	}
	if err := m.check(cache, ids); err != nil {
		return err
	}
	if free := cache.Cap() - cache.Len() - len(ids); n-1 > free {
		return fmt.Errorf("%w: a chain of %d more tokens does not fit", ErrContextFull, n-1)
	}
	start := cache.Len()
	if err := m.chain(ctx, cache, ids, n, t, by); err != nil {
		return errors.Join(err, cache.Truncate(start))
	}
	return nil
}

func (m *Model) chain(ctx context.Context, cache compute.Cache, ids []int32, n int, t compute.Tokens, by *compute.Sampling) error {
	if err := m.layersOver(ctx, Part{cache, ids}); err != nil {
		return err
	}
	take := m.backend.(compute.Feeder).Choose
	if by != nil {
		take = m.backend.(compute.Feeder).Draw
		if err := t.Sample(*by); err != nil {
			return err
		}
	}
	if err := t.Put(0, ids[len(ids)-1]); err != nil {
		return err
	}
	if err := m.lastRowFirst(len(ids)); err != nil {
		return err
	}
	for i := 1; ; i++ {
		if err := m.scoreRows(1); err != nil {
			return err
		}
		if err := take(m.activations.scores, t, i); err != nil {
			return err
		}
		if err := cache.Advance(len(m.ids)); err != nil {
			return err
		}
		if i == n {
			return t.Mark()
		}
		if err := m.layersOverTokens(ctx, t, i, 1, cache); err != nil {
			return err
		}
	}
}

// ForwardTokens is Forward for the first n tokens of t. The host need not know their ids. With several
// caches it is like ForwardParts: the same tokens are appended to each cache.
func (m *Model) ForwardTokens(ctx context.Context, t compute.Tokens, n int, caches ...compute.Cache) (compute.Logits, error) {
	rows := n * len(caches)
	if rows < 1 || rows > m.config.MaxRows {
		return nil, fmt.Errorf("a pass over %d tokens: allowed are 1 to %d", rows, m.config.MaxRows)
	}
	for _, cache := range caches {
		if err := m.check(cache, make([]int32, n)); err != nil {
			return nil, err
		}
	}
	if err := m.layersOverTokens(ctx, t, 0, n, caches...); err != nil {
		return nil, err
	}
	logits, err := m.score(rows)
	if err != nil {
		return nil, err
	}
	for _, cache := range caches {
		err = errors.Join(err, cache.Advance(n))
	}
	return logits, err
}

// layersOverTokens is layersOver for n tokens of t, from index at on, after the tokens of each cache. The
// host knows only the number of the tokens, not their ids.
func (m *Model) layersOverTokens(ctx context.Context, t compute.Tokens, at, n int, caches ...compute.Cache) error {
	parts := make([]Part, len(caches))
	for i, cache := range caches {
		parts[i] = Part{cache, make([]int32, n)}
	}
	p := m.begin(ctx, parts...)
	p.err = m.backend.(compute.Feeder).EmbedTokens(m.activations.residual, m.Embedding, t, at, n)
	for i := 1; i < len(parts) && p.err == nil; i++ {
		p.err = m.backend.Copy(m.activations.residual, m.activations.residual, n, compute.Block{Row: i * n})
	}
	return m.layersAfterEmbedding(p)
}

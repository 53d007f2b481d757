package round

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/spec"
)

// Target is the model whose distribution the text has. Its cache holds all committed tokens but the last.
type Target interface {
	// Score reads the last committed token and the draft after it in one pass, and returns a row of
	// scores for each. It fills in a draft that is still on a device. The terms are what a device needs
	// to judge the draft.
	Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (Pass, error)
	// Truncate cuts the cache back to its first n tokens.
	Truncate(n int) error
}

// Cached is a Target whose cache a session can fill and measure.
type Cached interface {
	Target
	Len() int // tokens in the cache
	Cap() int // most tokens that the cache can hold
	// Prefill reads tokens into the cache. progress, which may be nil, gets the number of tokens done.
	// After an error the cache keeps the tokens that were read.
	Prefill(ctx context.Context, ids []int32, progress func(done, total int)) error
	// Rest tells the target that a reply has ended and no round follows for now.
	Rest()
	Close() error
}

// Scores are the target's rows for a draft. Moved counts what was copied from the device, or went to and
// from a server.
type Scores interface {
	spec.Rows
	Moved() (bytes int64, syncs int)
}

// Pass is one pass of the target.
type Pass struct {
	Scores
	// Judged: the device has judged the draft, and Scores repeat its verdict.
	Judged bool
	// OnDevice: the device judged the draft before the host saw its tokens. MS is the device's time
	// for pass and verdict.
	OnDevice bool
	MS       float64
	Host     HostReason
	// Why says why the draft was judged in this way, if that depends on more than the settings. Advice is
	// a hint for the user. Later passes repeat it, so it should be shown once in a session.
	Why, Advice string
	// PriceMS is what a pass like this one costs on average, if that differs from the measured time; else 0.
	// (The first token of a server's stream waits for the request; later ones may come two at a time.)
	PriceMS float64
}

// Price returns what a round costs besides its drafting: PriceMS if it is set, else ms, the measured time.
func (p *Pass) Price(ms float64) float64 {
	if p.PriceMS > 0 {
		return p.PriceMS
	}
	return ms
}

// HostReason says why the host judges a draft although the device has a judge.
type HostReason int

// The reasons.
const (
	NoReason  HostReason = iota // the device judges, it has no judge, or the round's path leaves the draft to the host
	DrawnHere                   // the rule needs the draft's distributions q, and these are on the host
	NotForIt                    // too many tokens, or uniforms that the device cannot compute
)

// Local is a model in this program with the cache of a session.
type Local struct {
	Model  *model.Model
	Cache  compute.Cache
	tokens compute.Tokens // memory for drafts that the host sends to the device to be judged; nil until first used
	ids    []int32        // memory for the tokens of a pass
	parts  []model.Part   // memory for the sequences of a pass
}

// NewLocal allocates the cache.
func NewLocal(m *model.Model) (*Local, error) {
	cache, err := m.NewCache()
	if err != nil {
		return nil, err
	}
	return &Local{Model: m, Cache: cache}, nil
}

// Truncate cuts the cache back.
func (l *Local) Truncate(n int) error { return l.Cache.Truncate(n) }

// Len is the number of tokens in the cache.
func (l *Local) Len() int { return l.Cache.Len() }

// Cap is the most tokens that the cache can hold.
func (l *Local) Cap() int { return l.Cache.Cap() }

// Rest has nothing to do.
func (l *Local) Rest() {}

// Prefill reads tokens into the cache.
func (l *Local) Prefill(ctx context.Context, ids []int32, progress func(done, total int)) error {
	_, err := l.Model.Prefill(ctx, l.Cache, ids, progress)
	return err
}

// Close frees the cache.
func (l *Local) Close() error {
	if l.tokens == nil {
		return l.Cache.Close()
	}
	return errors.Join(l.Cache.Close(), l.tokens.Close())
}

// Score runs the pass and lets the device judge the draft where it can.
func (l *Local) Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	logits, err := l.forward(ctx, last, draft, l.Cache)
	if err != nil {
		return Pass{}, err
	}
	return l.settle(logits, draft, terms)
}

// forward runs the pass over the last committed token and the draft, in each of the caches.
func (l *Local) forward(ctx context.Context, last int32, draft *spec.Draft, caches ...compute.Cache) (compute.Logits, error) {
	if on := draft.Device; on != nil {
		logits, err := l.Model.ForwardTokens(ctx, on.Tokens, on.N+1, caches...)
		if err != nil {
			return nil, fmt.Errorf("verifying a draft of %d tokens on the device: %w", on.N, err)
		}
		return logits, nil
	}
	l.ids = append(append(l.ids[:0], last), draft.Tokens...)
	l.parts = l.parts[:0]
	for _, cache := range caches {
		l.parts = append(l.parts, model.Part{Cache: cache, IDs: l.ids})
	}
	return l.Model.ForwardParts(ctx, l.parts...)
}

// settle lets the device judge a draft that stayed on it. The device also judges a draft from the host if
// that saves copying whole rows.
func (l *Local) settle(logits compute.Logits, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	if draft.Device != nil {
		return judgeUnseen(logits, draft, terms)
	}
	switch path := spec.Eligible(terms); {
	case path == spec.Stochastic, path == spec.Greedy && (len(terms.Shapers) > 0 || terms.Logprobs > 0):
		return l.judge(logits, draft, terms)
	}
	// The host judges: path greedy copies only the best tokens, and path fallback needs whole rows anyway.
	return Pass{Scores: logits}, nil
}

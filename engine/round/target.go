package round

import (
	"context"
	"errors"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/spec"
)

// Target is the model whose distribution the text has, with all committed tokens but the last in its cache.
type Target interface {
	// Score reads the last committed token and the draft after it in one pass, and returns a row of
	// scores for each. A draft that is still on a device is filled in. The terms say what a device
	// needs to judge by itself.
	Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (Pass, error)
	// Truncate cuts the cache back to its first n tokens.
	Truncate(n int) error
}

// Cached is a Target with what a session asks of its cache.
type Cached interface {
	Target
	Len() int // tokens in the cache
	Cap() int // the most that it may hold
	// Prefill reads tokens into the cache and tells progress, which may be nil, how many are done. After
	// an error the cache keeps what was read.
	Prefill(ctx context.Context, ids []int32, progress func(done, total int)) error
	// Rest says that no round follows for now: a reply has ended.
	Rest()
	Close() error
}

// Scores are the target's rows for a draft, with a count of what crossed from the device.
type Scores interface {
	spec.Rows
	Moved() (bytes int64, syncs int)
}

// Pass is one pass of the target.
type Pass struct {
	Scores
	// Judged says that the device has judged the draft: Scores repeat its verdict.
	Judged bool
	// OnDevice says that the device has judged the draft before the host saw the draft's tokens. MS
	// is the device's time for the pass and the verdict.
	OnDevice bool
	MS       float64
	Host     HostReason
	// Why says in words how the pass was decided, if that depends on more than the settings; Advice is
	// what the user should be told once in a session, and is repeated by later passes.
	Why, Advice string
	// PriceMS is what a pass like this one costs where many follow each other; 0: what it took. The
	// first token of a server's stream waits for the request, and others come two at a time.
	PriceMS float64
}

// Price is what a round costs that took so many milliseconds but for drafting.
func (p *Pass) Price(ms float64) float64 {
	if p.PriceMS > 0 {
		return p.PriceMS
	}
	return ms
}

// HostReason says why the host judges a draft although there is a device that can judge.
type HostReason int

// The reasons; NoReason if the device judges, or no device could.
const (
	NoReason  HostReason = iota
	DrawnHere            // what the draft was drawn from is on the host
	NotForIt             // too many tokens, or uniforms that the device cannot compute
)

// Local is a model of this program with the cache of a session.
type Local struct {
	Model  *model.Model
	Cache  compute.Cache
	tokens compute.Tokens // of drafts that come from the host and are judged on the device; nil until there is one
	ids    []int32        // memory of the rows of a pass
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

// Cap is the most that it may hold.
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

// rows are the tokens that a pass reads.
func (l *Local) rows(last int32, draft *spec.Draft) []int32 {
	l.ids = append(append(l.ids[:0], last), draft.Tokens...)
	return l.ids
}

// Score runs the pass. A draft on the device is judged there; one of the host is judged there if that
// saves copying whole rows.
func (l *Local) Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	if draft.Device != nil {
		return l.scoreOnDevice(ctx, draft, terms)
	}
	logits, err := l.Model.Forward(ctx, l.Cache, l.rows(last, draft))
	if err != nil || spec.Eligible(terms) != spec.Stochastic {
		return Pass{Scores: logits}, err
	}
	return l.judge(logits, draft, terms)
}

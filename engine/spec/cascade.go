package spec

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
)

// Cascade asks several proposers, one after the other. All but the last look up text, which costs
// almost nothing. The first of these lookups that is sure of its draft drafts the round. If none is
// sure, the last proposer drafts. A lookup is sure if the chance that its draft has an error is at most
// half of what Ask.Trust allows. This limit is stricter than for Suffix alone, because the last
// proposer may do better. If the last proposer runs a model, the draft of a lookup must also have the
// length asked for, or end with a stop token.
//
// All proposers are told all committed tokens. A model reads them only when it drafts. So text that
// lookups drafted costs the model one long pass instead of one step for each token.
//
// The cascade does not own its proposers, because the session can also use each alone. Close leaves
// them open.
type Cascade struct {
	name    string
	lookups []Proposer
	last    Proposer
	model   bool // the last proposer runs a model
}

// NewCascade returns a proposer called name that asks first the lookups and then last. model: last runs
// a model.
func NewCascade(name string, lookups []Proposer, last Proposer, model bool) *Cascade {
	return &Cascade{name: name, lookups: lookups, last: last, model: model}
}

func (c *Cascade) Name() string { return c.name }

// Begin opens a reply for all proposers. A model reads the context when it first drafts.
func (c *Cascade) Begin(tokens []int32) (reused int, err error) {
	for _, p := range c.lookups {
		if _, err := p.Begin(tokens); err != nil {
			return 0, err
		}
	}
	return c.last.Begin(tokens)
}

// Unread is 0, because it is not known yet whether a model has to draft.
func (c *Cascade) Unread() int { return 0 }

// Read lets the last proposer read; lookups have nothing to read.
func (c *Cascade) Read(ctx context.Context, progress func(done, total int)) error {
	return c.last.Read(ctx, progress)
}

// Propose returns the draft of one proposer. Draft.By and Draft.ByWhy say whose it is and why.
func (c *Cascade) Propose(ctx context.Context, ask Ask) (Draft, error) {
	for _, p := range c.lookups {
		draft, err := p.Propose(ctx, ask)
		if err != nil {
			return Draft{}, err
		}
		whole := len(draft.Tokens) == ask.Gamma || draft.Stop == stopEnds || len(draft.Tokens) > 0 && !c.model
		sure := 1.0
		for _, share := range draft.Confidence {
			sure *= share
		}
		if whole && sure >= (1+ask.Trust)/2 {
			draft.By, draft.ByWhy = p.Name(), fmt.Sprintf("what came before is %.0f %% sure to come again", 100*sure)
			return draft, nil
		}
	}
	draft, err := c.last.Propose(ctx, ask)
	draft.By = c.last.Name()
	draft.ByWhy = "what came before gives no sure draft of this length"
	return draft, err
}

// Committed tells all proposers.
func (c *Cascade) Committed(tokens []int32) error {
	var errs []error
	for _, p := range c.lookups {
		errs = append(errs, p.Committed(tokens))
	}
	return errors.Join(append(errs, c.last.Committed(tokens))...)
}

// Len is the number of tokens in the last proposer's cache.
func (c *Cascade) Len() int { return c.last.Len() }

func (c *Cascade) Reset() error {
	var errs []error
	for _, p := range c.lookups {
		errs = append(errs, p.Reset())
	}
	return errors.Join(append(errs, c.last.Reset())...)
}

func (c *Cascade) Close() error { return nil }

// HiddenCascade is a cascade whose last proposer reads hidden states of the target.
type HiddenCascade struct {
	*Cascade
	heads HiddenReader
}

var _ HiddenReader = (*HiddenCascade)(nil)

// NewHiddenCascade is NewCascade for heads.
func NewHiddenCascade(name string, lookups []Proposer, heads HiddenReader) *HiddenCascade {
	return &HiddenCascade{NewCascade(name, lookups, heads, true), heads}
}

// Tap returns the tap of the heads.
func (h *HiddenCascade) Tap() *compute.Tap { return h.heads.Tap() }

// Take gives the states to the heads.
func (h *HiddenCascade) Take(ctx context.Context, at, rows int) error {
	return h.heads.Take(ctx, at, rows)
}

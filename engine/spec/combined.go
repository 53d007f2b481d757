package spec

import (
	"context"
	"errors"
	"fmt"
)

// Combined copies earlier text where the text repeats, and drafts with a model elsewhere. Each
// round asks Suffix first, which costs almost nothing. Its draft is used if it is certain, and has the
// length asked for or ends with a stop token. Otherwise the draft model drafts. A draft is certain if
// the chance that it has an error is at most half of what Ask.Trust allows. The limit is stricter than
// for Suffix alone, because the draft model may do better. Both proposers are told all committed
// tokens. The model reads them only when it drafts, so repeated text costs it one long pass instead of
// one step for each token.
//
// Combined does not own the two proposers, because the session can also use each alone. Close leaves
// them open.
type Combined struct {
	suffix *Suffix
	model  Proposer
}

// NewCombined returns a proposer that asks suffix first.
func NewCombined(suffix *Suffix, model Proposer) *Combined { return &Combined{suffix, model} }

func (c *Combined) Name() string { return "combined" }

// Begin opens a reply for both proposers. The model reads the context when it first drafts.
func (c *Combined) Begin(tokens []int32) (reused int, err error) {
	if _, err := c.suffix.Begin(tokens); err != nil {
		return 0, err
	}
	return c.model.Begin(tokens)
}

// Unread is 0, because it is not known yet whether the model has to draft.
func (c *Combined) Unread() int { return 0 }

// Read lets the model read.
func (c *Combined) Read(ctx context.Context, progress func(done, total int)) error {
	return c.model.Read(ctx, progress)
}

// Propose returns the draft of Suffix or of the model. Draft.By and Draft.ByWhy say which and why.
func (c *Combined) Propose(ctx context.Context, ask Ask) (Draft, error) {
	copied, err := c.suffix.Propose(ctx, ask)
	if err != nil {
		return Draft{}, err
	}
	whole := len(copied.Tokens) == ask.Gamma || copied.Stop == stopEnds
	sure := 1.0
	for _, share := range copied.Confidence {
		sure *= share
	}
	if whole && sure >= (1+ask.Trust)/2 {
		copied.By, copied.ByWhy = c.suffix.Name(), fmt.Sprintf("what came before is %.0f %% sure to come again", 100*sure)
		return copied, nil
	}
	draft, err := c.model.Propose(ctx, ask)
	draft.By = c.model.Name()
	draft.ByWhy = "what came before gives no sure draft of this length"
	return draft, err
}

// Committed tells both proposers.
func (c *Combined) Committed(tokens []int32) error {
	return errors.Join(c.suffix.Committed(tokens), c.model.Committed(tokens))
}

// Len is the number of tokens in the model's cache.
func (c *Combined) Len() int { return c.model.Len() }

func (c *Combined) Reset() error { return errors.Join(c.suffix.Reset(), c.model.Reset()) }

func (c *Combined) Close() error { return nil }

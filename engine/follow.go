package engine

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/engine/spec"
)

// follower is the proposer of a reply, and how much of the reply it has seen.
type follower struct {
	following string            // name of the proposer that has been told this context; "": none
	proposer  spec.Proposer     // the proposer named by following; if following is empty, the one that will be told the context
	heads     spec.HiddenReader // proposer, if it reads hidden states; else nil
	traits    spec.Traits
	large     bool // a draft step reads so many weights that a softmax costs little beside it (isLarge)
	told      int  // tokens of the context that proposer has been told
	held      int  // tokens in the proposer's cache after the last call of tell
	failures  int  // drafts in a row that gave no token
	auto      bool // the setting is auto, which chose this proposer
}

func (f *follower) follows(name string) bool { return f.following == name }

// leave notes that no proposer follows the reply: none is told the coming tokens.
func (f *follower) leave() { f.following = "" }

// set makes p the proposer of the reply. It does not tell p the context: open does. p may be nil; then the
// proposer is made when it is first needed.
func (f *follower) set(p spec.Proposer, t spec.Traits, large bool) {
	f.proposer, f.traits, f.large, f.heads = p, t, large, nil
	if p != nil && t.Hidden() {
		f.heads = p.(spec.HiddenReader)
	}
}

// tell gives the proposer the committed tokens that it has not been told yet.
func (f *follower) tell(p spec.Proposer, context []int32) error {
	if err := p.Committed(context[f.told:]); err != nil {
		return fmt.Errorf("rolling proposer %s back: %w", p.Name(), err)
	}
	f.told, f.held = len(context), p.Len()
	return nil
}

// take makes p the reply's proposer. p is the proposer that the settings name, or nil if it was not
// made yet.
func (r *reply) take(p spec.Proposer) {
	c := r.config.Speculation
	r.follower.set(p, drafterNamed(c.Proposer).Traits, r.session.engine.isLarge(r.session.engine.draftParameters(c)))
}

// follow makes p the proposer of this reply, and tells it the tokens that it has not been told yet.
// A draft model does not read them now, but when it is first asked for a draft.
func (r *reply) follow(ctx context.Context, p spec.Proposer) error {
	if r.follows(p.Name()) {
		if r.told == len(r.context) {
			return nil
		}
		return r.tell(p, r.context)
	}
	r.take(p)
	known, err := r.open(p, r.context)
	if err == nil && r.heads != nil {
		// Heads need the hidden states of the whole context. The target reads again, with a tap, all
		// tokens whose states p does not know. Some caches must be cut back further than to the first of
		// these tokens (Reach).
		err = r.prefill(ctx, compute.Reach(r.session.cache(), min(known, r.session.target.Len())))
	}
	return err
}

// open tells the proposer the whole context. known is how many of these tokens it has read already.
func (f *follower) open(p spec.Proposer, context []int32) (known int, err error) {
	if known, err = p.Begin(context); err != nil {
		return 0, fmt.Errorf("telling proposer %s the context: %w", p.Name(), err)
	}
	f.following, f.told = p.Name(), len(context)
	return known, nil
}

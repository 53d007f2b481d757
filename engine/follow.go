package engine

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/engine/spec"
)

// follower is the reply's proposer, and what it knows of the reply.
type follower struct {
	following string            // name of the proposer that follows this context; "" if none does. The others learn of the context when they are chosen
	proposer  spec.Proposer     // that one, or one that will
	heads     spec.HiddenReader // the same, if it reads hidden states
	traits    spec.Traits
	large     bool // it reads much for a token
	told      int  // tokens of the context that it was told of
	cached    int  // tokens in its cache when it was told last
	failures  int  // drafts in a row that it failed to make
	auto      bool // it is the one that the setting auto stands for
}

func (f *follower) follows(name string) bool { return f.following == name }

// leave means that the proposer will not see what comes.
func (f *follower) leave() { f.following = "" }

// set makes p the proposer of the reply; it does not follow the context yet. A nil p is made when
// it is needed.
func (f *follower) set(p spec.Proposer, t spec.Traits, large bool) {
	f.proposer, f.traits, f.large, f.heads = p, t, large, nil
	if p != nil && t.Hidden() {
		f.heads = p.(spec.HiddenReader)
	}
}

// tell gives the proposer the tokens that were committed since the last call.
func (f *follower) tell(p spec.Proposer, context []int32) error {
	if err := p.Committed(context[f.told:]); err != nil {
		return fmt.Errorf("rolling proposer %s back: %w", p.Name(), err)
	}
	f.told, f.cached = len(context), p.Len()
	return nil
}

// take makes p the reply's proposer. p is the one that the settings name, or nil if it was not made
// yet.
func (r *reply) take(p spec.Proposer) {
	c := r.config.Speculation
	r.follower.set(p, drafterNamed(c.Proposer).Traits, r.session.engine.isLarge(r.session.engine.draftParameters(c)))
}

// follow makes p the proposer that follows this reply, and tells it the tokens of the reply that it
// has not been told yet. A draft model reads them when it is first asked for a draft. If it is
// never asked, it never reads them.
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
		// The target reads again, with a tap, what it has read without one, and what lies between there
		// and where its cache can go back to.
		err = r.prefill(ctx, compute.Reach(r.session.cache(), min(known, r.session.target.Len())))
	}
	return err
}

// open opens the reply for its proposer.
func (f *follower) open(p spec.Proposer, context []int32) (known int, err error) {
	if known, err = p.Begin(context); err != nil {
		return 0, fmt.Errorf("telling proposer %s the context: %w", p.Name(), err)
	}
	f.following, f.told = p.Name(), len(context)
	return known, nil
}

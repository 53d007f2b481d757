package spec

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Chainer is a Model that may be able to draft several tokens on a device without the host.
// engine/model implements it.
type Chainer interface {
	Model
	// Feeds reports whether the backend can draft without the host.
	Feeds() bool
	Tokens(n int) (compute.Tokens, error)
	// Chain appends ids and n−1 drafted tokens to the cache. If by is nil, each drafted token is the
	// most probable one; else it is drawn as by says. Chain writes the last of ids and n drafted tokens
	// to t. It does not wait for the device.
	Chain(ctx context.Context, cache compute.Cache, ids []int32, n int, t compute.Tokens, by *compute.Sampling) error
}

// chainer returns the model, and whether it can draft for this ask on the device without the host. It
// cannot with shapers, with another vocabulary, at temperature 0 with inspection, or if the device cannot
// sample the draft (Ask.sampling). A sampled draft must stay on the device (ask.OnDevice): its q do not
// reach the host in time, so only the device can judge it. A chain does not call ask.Continue, because on a
// device a draft step costs less than asking the host.
func (d *DraftModel) chainer(ask Ask) (Chainer, bool) {
	if len(ask.Shapers) > 0 || d.lexicon != nil {
		return nil, false
	}
	switch _, ok := ask.sampling(ask.Gamma, d.vocab); {
	case ask.Params.Temperature > 0 && (!ok || !ask.OnDevice):
		return nil, false
	case ask.Params.Temperature == 0 && ask.Inspect:
		return nil, false
	}
	model, ok := d.model.(Chainer)
	return model, ok && model.Feeds()
}

// mostUnread is the largest number of committed tokens that the first step of a chain reads. A round
// leaves at most two unread; if there are more, all but the last are read before the chain. So there are
// only two kinds of first steps, and a GPU can keep a recording of each.
const mostUnread = 2

// chain drafts on the device. If ask.OnDevice is set, the draft stays there.
func (d *DraftModel) chain(ctx context.Context, model Chainer, ask Ask, draft Draft) (Draft, error) {
	if unread := d.context[len(d.cached):]; len(unread) > mostUnread {
		if _, err := d.read(ctx, unread[:len(unread)-1], nil); err != nil {
			return Draft{}, fmt.Errorf("reading %d tokens in front of a draft: %w", len(unread)-1, err)
		}
	}
	at := len(d.cached)
	unread := d.context[at:]
	n := min(ask.Gamma, d.cache.Cap()-at-len(unread)+1)
	if err := d.runChain(ctx, model, ask, unread, n); err != nil {
		return Draft{}, errors.Join(fmt.Errorf("drafting %d tokens: %w", n, err), d.truncate(at))
	}
	seen := func(draft *Draft, ids []int32, q []float64) error { return d.seeChain(ask, n, draft, ids, q) }
	if ask.OnDevice {
		draft.Device = &OnDevice{Tokens: d.tokens, N: n, seen: seen}
		return draft, nil
	}
	ids := make([]int32, n)
	if err := d.tokens.Get(1, ids); err != nil {
		return Draft{}, errors.Join(fmt.Errorf("drafting %d tokens: %w", n, err), d.truncate(at))
	}
	return draft, seen(&draft, ids, nil)
}

// runChain queues the n steps of a draft on the device.
func (d *DraftModel) runChain(ctx context.Context, model Chainer, ask Ask, unread []int32, n int) error {
	if err := d.roomForTokens(model, n+1); err != nil {
		return err
	}
	var by *compute.Sampling
	if ask.Params.Temperature > 0 {
		s, _ := ask.sampling(n, d.vocab)
		by = &s
	}
	return model.Chain(ctx, d.cache, unread, n, d.tokens, by)
}

// seeChain fills in a draft of n tokens from the device. ids are the tokens, and q has the probability of each;
// q is nil at temperature 0.
func (d *DraftModel) seeChain(ask Ask, n int, draft *Draft, ids []int32, q []float64) error {
	at := len(d.cached)
	d.cached = append(append(d.cached, d.context[at:]...), ids[:n-1]...)
	if q != nil {
		if err := d.look(ask, n, draft); err != nil {
			return errors.Join(err, d.truncate(at))
		}
	}
	for i, id := range ids {
		if id < 0 {
			var err error
			*draft, err = d.damaged(*draft, i, compute.ErrNotFinite)
			return err
		}
		if int(id) >= d.vocab {
			draft.Stop = fmt.Sprintf("the target does not know token %d", id)
			return nil
		}
		draft.Tokens = append(draft.Tokens, id)
		if q != nil {
			draft.Q, draft.Confidence = append(draft.Q, d.seen(ask, i, draft)), append(draft.Confidence, q[i])
		} else {
			draft.Q = append(draft.Q, sample.OneHot(id))
		}
		if ask.IsStop != nil && ask.IsStop(id) {
			draft.Stop = stopEnds
			return nil
		}
	}
	if n < ask.Gamma {
		draft.Stop = fmt.Sprintf("draft context full: %d tokens", d.cache.Cap())
	}
	return nil
}

// look copies to the host the logits that ask.Inspect or ask.Look asks for, of a sampled draft of n tokens.
func (d *DraftModel) look(ask Ask, n int, draft *Draft) (err error) {
	s, _ := ask.sampling(n, d.vocab)
	if s.Keep == 0 {
		return nil
	}
	known := min(d.vocab, d.own)
	scores := make([]float32, s.Keep*known)
	if draft.LookBytes, err = d.tokens.Kept(scores); err != nil {
		return err
	}
	for i := range s.Keep {
		draft.Logits = append(draft.Logits, scores[i*known:(i+1)*known])
	}
	return nil
}

// seen returns the distribution that token i was drawn from. Only inspection needs it; otherwise seen
// returns sample.Elsewhere.
func (d *DraftModel) seen(ask Ask, i int, draft *Draft) sample.Dist {
	if !ask.Inspect {
		return sample.Elsewhere()
	}
	q, _ := d.rows(i, d.own)
	dist, err := d.sampler.FromLogits(q, draft.Logits[i], ask.drafting())
	if err != nil {
		return sample.Elsewhere()
	}
	return dist
}

// roomForTokens makes room on the device for n tokens, or for the usual number if that is larger.
func (d *DraftModel) roomForTokens(model Chainer, n int) error {
	const usual = compute.MostDrafts + 1
	if d.tokens != nil && n <= d.room {
		return nil
	}
	if d.tokens != nil {
		if err := d.tokens.Close(); err != nil {
			return err
		}
		d.tokens = nil
	}
	room := max(n, usual)
	t, err := model.Tokens(room)
	if err != nil {
		return err
	}
	d.tokens, d.room = t, room
	return nil
}

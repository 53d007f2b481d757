package round

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/engine/spec"
)

// In these rounds a device judges the draft. A draft that the device made stays on the device: draft,
// target pass and verdict are queued one after the other, so the host waits once in a round. A draft
// from the host is judged on the device, too, where this saves copying whole rows of scores.

// chosen is a pass at temperature 0 that the device has judged. Best tokens are known up to the first rejection.
type chosen struct {
	compute.Logits
	verdict compute.Verdict
	draft   []int32
}

// Argmax writes the best tokens up to the first rejection, and −1 for later rows, which are not needed.
func (c *chosen) Argmax(dst []int32) error {
	if c.verdict.Follows < 0 {
		return compute.ErrNotFinite // the caller reads the rows to find out which of them is not finite
	}
	for i := range dst {
		dst[i] = -1
	}
	n := copy(dst, c.draft[:c.verdict.Accepted])
	dst[n] = c.verdict.Follows
	return nil
}

// drawn is a sampled pass that the device has judged; see spec.Decided.
type drawn struct {
	compute.Logits
	verdict compute.Drawn
}

func (d *drawn) Decision() compute.Drawn { return d.verdict }

// scoreOnDevice runs the pass over a draft that the host has not seen. It waits once, for the draft and
// the verdict together, and fills in the draft.
func (l *Local) scoreOnDevice(ctx context.Context, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	on := draft.Device
	logits, err := l.Model.ForwardTokens(ctx, l.Cache, on.Tokens, on.N+1)
	if err != nil {
		return Pass{}, fmt.Errorf("verifying a draft of %d tokens on the device: %w", on.N, err)
	}
	judge := logits.(compute.Judge)
	ids := make([]int32, on.N)
	if terms.Params.Temperature == 0 {
		c := &chosen{Logits: logits, draft: ids}
		if c.verdict, err = judge.AcceptBest(on.Tokens, ids); err != nil {
			return Pass{}, fmt.Errorf("comparing a draft of %d tokens on the device: %w", on.N, err)
		}
		return Pass{Scores: c, Judged: true, OnDevice: true, MS: c.verdict.PassMS}, on.Seen(draft, ids, nil)
	}
	d := &drawn{Logits: logits}
	if d.verdict, err = judge.AcceptDrawn(on.Tokens); err != nil {
		return Pass{}, fmt.Errorf("judging a draft of %d tokens on the device: %w", on.N, err)
	}
	q := make([]float64, on.N)
	for i, chance := range d.verdict.Draft {
		if ids[i], q[i] = chance.ID, chance.Q; chance.Q == 0 {
			ids[i] = -1
		}
	}
	return Pass{Scores: d, Judged: true, OnDevice: true, MS: d.verdict.PassMS}, on.Seen(draft, ids, q)
}

// judge lets the device judge a draft that came from the host, after the pass over it, and draw the
// next token. A device without compute.Judge returns the pass unjudged. If the device cannot judge
// this draft, Pass.Host says why: DrawnHere if one of the tokens was drawn at random, else NotForIt.
func (l *Local) judge(logits compute.Logits, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	pass := Pass{Scores: logits}
	device, ok := logits.(compute.Judge)
	if !ok {
		return pass, nil
	}
	by, can := spec.Sampling(terms.Params, terms.Uniforms, terms.Round, len(draft.Tokens))
	switch {
	case !can:
		pass.Host = NotForIt
		return pass, nil
	case !Certain(draft):
		pass.Host = DrawnHere
		return pass, nil
	}
	by.Certain = true
	verdict, err := l.acceptDrawn(device, by, draft.Tokens)
	if err != nil {
		return Pass{}, err
	}
	return Pass{Scores: &drawn{Logits: logits, verdict: verdict}, Judged: true, MS: verdict.PassMS}, nil
}

func (l *Local) acceptDrawn(device compute.Judge, by compute.Sampling, draft []int32) (verdict compute.Drawn, err error) {
	if l.tokens == nil {
		if l.tokens, err = l.Model.Tokens(compute.MostDrafts + 1); err != nil {
			return verdict, err
		}
	}
	if err := l.tokens.Sample(by); err != nil {
		return verdict, err
	}
	if err := l.tokens.Put(1, draft...); err != nil {
		return verdict, err
	}
	return device.AcceptDrawn(l.tokens)
}

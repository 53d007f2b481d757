package round

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/spec"
)

// This file runs the rounds in which a device judges the draft. A draft that the device made stays on the
// device: draft, target pass and verdict are queued one after the other, so the host waits once in a
// round. A draft from the host is judged on the device, too, where this saves copying whole rows of
// scores.

// chosen is a pass at temperature 0 whose draft the device has judged. The best token of a row is known up
// to the row of the first rejection.
type chosen struct {
	compute.Logits
	verdict compute.Verdict
	draft   []int32
	edited  bool
}

// Edited implements spec.Edited. A pass in which no token could be chosen counts as not judged: the host
// finds out why.
func (c *chosen) Edited() bool { return c.edited && c.verdict.Follows >= 0 }

// Argmax writes the best tokens up to the row of the first rejection, and −1 for later rows, which are not
// needed.
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

// drawn is a pass above temperature 0 whose draft the device has judged; see spec.Decided.
type drawn struct {
	compute.Logits
	verdict compute.Drawn
	edited  bool
}

// Edited implements spec.Edited.
func (d *drawn) Edited() bool { return d.edited }

// Ranked implements spec.Ranked.
func (c *chosen) Ranked() []compute.Ranked { return c.verdict.Ranked }
func (d *drawn) Ranked() []compute.Ranked  { return d.verdict.Ranked }

func (d *drawn) Decision() compute.Drawn { return d.verdict }

// judgeUnseen lets the device judge a draft that the host has not seen. It waits once, for the draft, the
// pass and the verdict together, and fills in the draft.
func judgeUnseen(logits compute.Logits, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	on, judge := draft.Device, logits.(compute.Judge)
	ids := make([]int32, on.N)
	edited, err := extend(on.Tokens, nil, logits, terms) // shapers that need the draft keep it from the device
	if err != nil {
		return Pass{}, err
	}
	if terms.Params.Temperature == 0 {
		c := &chosen{Logits: logits, draft: ids, edited: edited}
		if c.verdict, err = judge.AcceptBest(on.Tokens, ids); err != nil {
			return Pass{}, fmt.Errorf("comparing a draft of %d tokens on the device: %w", on.N, err)
		}
		return Pass{Scores: c, Judged: true, OnDevice: true, MS: c.verdict.PassMS}, on.Seen(draft, ids, nil)
	}
	d := &drawn{Logits: logits, edited: edited}
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

// judge lets the device judge a draft that came from the host, after the pass over it, and draw the next
// token. A device without compute.Judge returns the pass unjudged. If the device cannot judge this draft,
// Pass.Host says why: NotForIt for too many tokens, or for uniforms that it cannot compute; else
// DrawnHere, because a token was drawn at random and the rule needs its q.
func (l *Local) judge(logits compute.Logits, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	pass := Pass{Scores: logits}
	device, ok := logits.(compute.Judge)
	if !ok {
		return pass, nil
	}
	if terms.Params.Temperature == 0 {
		return l.judgeBest(logits, device, draft, terms)
	}
	by, can := terms.Sampling(len(draft.Tokens))
	switch {
	case !can:
		pass.Host = NotForIt
		return pass, nil
	case draft.Drawn == nil && terms.NeedsQ() && !Certain(draft):
		pass.Host = DrawnHere
		return pass, nil
	}
	by.Certain = draft.Drawn == nil
	on, edited, err := l.put(draft, logits, terms)
	if err == nil {
		err = on.Sample(by)
	}
	if err != nil {
		return Pass{}, err
	}
	verdict, err := device.AcceptDrawn(on)
	if err != nil {
		return Pass{}, err
	}
	return Pass{Scores: &drawn{logits, verdict, edited}, Judged: true, MS: verdict.PassMS}, nil
}

// judgeBest lets the device edit the rows as the shapers do, compare a draft from the host with their best tokens,
// and find what log-probabilities need.
func (l *Local) judgeBest(logits compute.Logits, device compute.Judge, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	if len(draft.Tokens) > compute.MostDrafts {
		return Pass{Scores: logits, Host: NotForIt}, nil
	}
	on, edited, err := l.put(draft, logits, terms)
	if err != nil {
		return Pass{}, err
	}
	c := &chosen{Logits: logits, draft: make([]int32, len(draft.Tokens)), edited: edited}
	if c.verdict, err = device.AcceptBest(on, c.draft); err != nil {
		return Pass{}, err
	}
	return Pass{Scores: c, Judged: true, MS: c.verdict.PassMS}, nil
}

func (l *Local) roomForTokens() (err error) {
	if l.tokens == nil {
		l.tokens, err = l.Model.Tokens(compute.MostDrafts + 1)
	}
	return err
}

// put copies a draft from the host to the device, unless the device has drawn it, and tells the device what else
// its verdict includes. It returns where the draft is.
func (l *Local) put(draft *spec.Draft, logits compute.Logits, terms *spec.Terms) (on compute.Tokens, edited bool, err error) {
	if on = draft.Drawn; on == nil {
		if err := l.roomForTokens(); err != nil {
			return nil, false, err
		}
		on = l.tokens
		if err := on.Put(1, draft.Tokens...); err != nil {
			return nil, false, err
		}
	}
	edited, err = extend(on, draft.Tokens, logits, terms)
	return on, edited, err
}

// extend tells the device what else the next verdict includes: the best tokens of each row, if log-probabilities are
// asked for, and what the shapers do to the rows. It returns false if there are no shapers. The pass is queued
// already, so that the device runs it while the host computes masks.
func extend(t compute.Tokens, draft []int32, logits compute.Logits, terms *spec.Terms) (edited bool, err error) {
	if terms.Logprobs > 0 {
		if err := t.Rank(terms.Logprobs); err != nil {
			return false, err
		}
	}
	if len(terms.Shapers) == 0 {
		return false, nil
	}
	edits, err := terms.Shapers.Edits(draft, logits.Vocab())
	if err != nil {
		return false, err
	}
	return true, t.Edit(edits)
}

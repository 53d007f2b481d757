package engine

import (
	"context"
	"fmt"
	"slices"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/sample"
	"specula/engine/spec"
)

// Rounds that a device decides by itself. The draft stays on the device. The target's pass is queued after it, and the
// verdict after the pass, so the host waits only once a round. A draft from the host is judged on the device too, where this
// saves copying whole rows of logits.

// ahead is a pass of the target together with the device's verdict on the draft.
type ahead interface {
	scores
	// passMS is the device's time for the pass and the verdict.
	passMS() float64
}

// chosen is a pass that was judged at temperature 0. The best tokens are known up to the first rejection.
type chosen struct {
	compute.Logits
	verdict compute.Verdict
	draft   []int32
}

func (c *chosen) passMS() float64 { return c.verdict.PassMS }

// Argmax gives the best tokens up to the first rejection. Later rows decide nothing; they get −1.
func (c *chosen) Argmax(dst []int32) error {
	if c.verdict.Follows < 0 {
		return compute.ErrNotFinite // the caller reads the rows to find out which one
	}
	for i := range dst {
		dst[i] = -1
	}
	n := copy(dst, c.draft[:c.verdict.Accepted])
	dst[n] = c.verdict.Follows
	return nil
}

// drawn is a pass that was judged by sampling; see spec.Decided.
type drawn struct {
	compute.Logits
	verdict compute.Drawn
}

func (d *drawn) passMS() float64         { return d.verdict.PassMS }
func (d *drawn) Decision() compute.Drawn { return d.verdict }

// runAhead queues the target's pass over a draft of n tokens, waits for draft and verdict together, and returns both. q holds
// the draft probability of each token; it is nil at temperature 0.
func runAhead(ctx context.Context, target *model.Model, cache compute.Cache, t compute.Tokens, n int, p sample.Params) (a ahead, ids []int32, q []float64, err error) {
	logits, err := target.ForwardTokens(ctx, cache, t, n+1)
	if err != nil {
		return nil, nil, nil, err
	}
	ids = make([]int32, n)
	judge := logits.(compute.Judge)
	if p.Temperature == 0 {
		c := &chosen{Logits: logits, draft: ids}
		if c.verdict, err = judge.AcceptBest(t, ids); err != nil {
			return nil, nil, nil, err
		}
		return c, ids, nil, nil
	}
	d := &drawn{Logits: logits}
	if d.verdict, err = judge.AcceptDrawn(t); err != nil {
		return nil, nil, nil, err
	}
	q = make([]float64, n)
	for i, chance := range d.verdict.Draft {
		if ids[i], q[i] = chance.ID, chance.Q; chance.Q == 0 {
			ids[i] = -1
		}
	}
	return d, ids, q, nil
}

// mayRunAhead reports whether the target may read a draft that the host has not seen: only where a device can judge it. An
// inspected round at temperature 0 is judged on the host, which writes the same tokens. A sampled round would get other
// tokens there, so the device decides it and its rows are read afterwards.
func (r *reply) mayRunAhead(ask *spec.Ask) bool {
	if !r.engine.runsAhead() {
		return false
	}
	path := r.session.path(r.config)
	return path == spec.Greedy && !ask.Inspect || path == spec.Stochastic
}

// runsAhead reports whether drafts can stay on the target's device.
func (e *Engine) runsAhead() bool {
	return e.target.Feeds() && (e.draft == nil || e.target.Shares(e.draft))
}

// runAhead returns the function that a round gives its proposer as spec.Ask.Ahead.
func (r *reply) runAhead(ctx context.Context) func(t compute.Tokens, n int) ([]int32, []float64, error) {
	return func(t compute.Tokens, n int) (ids []int32, q []float64, err error) {
		r.ahead, ids, q, err = runAhead(ctx, r.engine.target, r.session.cache, t, n, params(r.config))
		return ids, q, err
	}
}

// judge lets the device judge a draft after the target's pass over it, and draw the token that follows. The draft has only
// tokens with q = 1, or is empty. Where only the host can judge, judge returns logits unchanged and, if there is a device, the
// reason in words.
func (s *Session) judge(logits scores, draft spec.Draft, p sample.Params, u sample.Uniforms, round int) (judged scores, host string, err error) {
	device, ok := logits.(compute.Judge)
	if !ok {
		return logits, "", nil
	}
	n := len(draft.Tokens)
	by, can := spec.Sampling(p, u, round, n)
	if !can {
		return logits, fmt.Sprintf("the device cannot judge %d draft tokens at temperature %g", n, p.Temperature), nil
	}
	if slices.ContainsFunc(draft.Q, func(q sample.Dist) bool { return q.P != nil }) {
		return logits, "what the draft was drawn from is on the processor, so whole rows are judged there", nil
	}
	if s.tokens == nil {
		if s.tokens, err = s.engine.target.Tokens(compute.MostDrafts + 1); err != nil {
			return nil, "", err
		}
	}
	by.Certain = true
	if err := s.tokens.Sample(by); err != nil {
		return nil, "", err
	}
	if err := s.tokens.Put(1, draft.Tokens...); err != nil {
		return nil, "", err
	}
	verdict, err := device.AcceptDrawn(s.tokens)
	if err != nil {
		return nil, "", err
	}
	return &drawn{Logits: logits.(compute.Logits), verdict: verdict}, "", nil
}

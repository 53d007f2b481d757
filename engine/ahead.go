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

// What a device decides by itself. A pass of the target that is queued behind a draft nobody has seen, and the verdict about it behind
// that, make a round one wait. A draft that came from the host is judged there as well if that spares the rows.

// ahead is a pass of the target with the device's verdict.
type ahead interface {
	scores
	// passMS is the device's time for the pass and the verdict.
	passMS() float64
}

// chosen is a pass that was judged at temperature 0. Its best tokens are known as far as they decide.
type chosen struct {
	compute.Logits
	verdict compute.Verdict
	draft   []int32
}

func (c *chosen) passMS() float64 { return c.verdict.PassMS }

// Argmax gives the best tokens of the rows that decide; those of the rows behind are of no interest, and −1.
func (c *chosen) Argmax(dst []int32) error {
	if c.verdict.Follows < 0 {
		return compute.ErrNotFinite // of which row, the rows themselves will tell
	}
	for i := range dst {
		dst[i] = -1
	}
	n := copy(dst, c.draft[:c.verdict.Accepted])
	dst[n] = c.verdict.Follows
	return nil
}

// drawn is a pass that was judged by chance; see spec.Decided.
type drawn struct {
	compute.Logits
	verdict compute.Drawn
}

func (d *drawn) passMS() float64         { return d.verdict.PassMS }
func (d *drawn) Decision() compute.Drawn { return d.verdict }

// runAhead queues the target's pass over a draft of n tokens, waits for draft and verdict at once, and returns both. q is what the
// tokens were drawn with, nil at temperature 0.
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

// mayRunAhead reports whether the target may read a draft that nobody has seen: where a device can judge it. At temperature 0 a round
// that somebody wants to look at writes the same tokens on the host; a sampled one does not, and is looked at when it is decided.
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

// runAhead is spec.Ask.Ahead of a round.
func (r *reply) runAhead(ctx context.Context) func(t compute.Tokens, n int) ([]int32, []float64, error) {
	return func(t compute.Tokens, n int) (ids []int32, q []float64, err error) {
		r.ahead, ids, q, err = runAhead(ctx, r.engine.target, r.session.cache, t, n, params(r.config))
		return ids, q, err
	}
}

// judge lets the device judge a draft after a pass over it, and draw what follows. The draft's tokens are certain, or there are none.
// Where only the host can judge, judge returns the scores as they are and, if there is a device, the reason in words.
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

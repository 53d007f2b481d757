package engine

import (
	"context"

	"specula/engine/compute"
	"specula/engine/spec"
)

// ahead is a pass of the target that was queued behind a draft on the device, with the device's verdict. It stands for the scores of
// the pass: their best tokens are known as far as they decide.
type ahead struct {
	compute.Logits
	verdict compute.Verdict
	draft   []int32
}

// Argmax gives the best tokens of the rows that decide; those of the rows behind are of no interest, and −1.
func (a *ahead) Argmax(dst []int32) error {
	if a.verdict.Follows < 0 {
		return compute.ErrNotFinite // of which row, the rows themselves will tell
	}
	for i := range dst {
		dst[i] = -1
	}
	n := copy(dst, a.draft[:a.verdict.Accepted])
	dst[n] = a.verdict.Follows
	return nil
}

// mayRunAhead reports whether the target may read a draft that nobody has seen: where its best tokens alone decide, and nobody
// wants to look at the draft's scores.
func (r *reply) mayRunAhead(ask *spec.Ask) bool {
	path, _ := spec.Eligible(ask.Params, r.session.shaping.shapers, r.config.Sampling.Logprobs)
	return path == spec.Greedy && !ask.Inspect && !guided(r.config) && r.engine.target.Feeds() && r.engine.onOneDevice()
}

// runAhead queues the target's pass over a draft, and waits for draft and verdict at once.
func (r *reply) runAhead(ctx context.Context) func(t compute.Tokens, n int) ([]int32, error) {
	return func(t compute.Tokens, n int) ([]int32, error) {
		logits, err := r.engine.target.ForwardTokens(ctx, r.session.cache, t, n+1)
		if err != nil {
			return nil, err
		}
		a := &ahead{Logits: logits, draft: make([]int32, n)}
		if a.verdict, err = logits.(compute.Judge).AcceptBest(t, a.draft); err != nil {
			return nil, err
		}
		r.ahead = a
		return a.draft, nil
	}
}

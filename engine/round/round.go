// Package round runs one round of speculative decoding: a draft, one pass of the target over it, and
// the verdict.
//
// A round takes one struct (Input) and fills another (Result); it yields no event. A Driver runs the
// rounds of replies, and those that measure costs before the first reply:
//
//	Draft   asks a proposer for the next tokens
//	Verify  lets the target score them in one pass, and judges them by these scores
//
// The caller then commits what it wants of Result.Outcome, cuts the target's cache back to all committed
// tokens but the last (Target.Truncate), and tells the proposer what was committed (Proposer.Committed).
package round

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/spec"
)

// Input has what a round needs.
type Input struct {
	Last  int32    // the last committed token; the target reads it as row 0 of the pass
	Ask   spec.Ask // what to ask the proposer
	Terms spec.Terms
	Given []int32 // a draft that exists already; if not nil, the proposer is not asked
}

// Result has what a round did. It must be zero before the round.
type Result struct {
	Draft    spec.Draft
	Proposed int   // tokens that the proposer gave; Draft may have fewer of them
	Failed   error // why the proposer could not draft in this round; nil if it could, or was not asked
	Read     int   // committed tokens that the proposer read before it drafted
	Pass     Pass
	Outcome  spec.Outcome
	Times
	// What was copied from the device for the verdict: bytes, and how often the host waited for a copy. For
	// a target on a server: the bytes sent and received, and the requests.
	BytesMoved int64
	Syncs      int
}

// Times are the milliseconds of the parts of a round.
type Times struct {
	Read   float64 // the proposer reads committed tokens
	Draft  float64
	Verify float64 // the target's pass runs
	Sample float64 // the draft is judged
	Other  float64 // the caller does its own work in the round
}

// Driver runs rounds on one target. Only one goroutine may use it.
type Driver struct {
	Target   Target
	Verifier *spec.Verifier
	Watch    Stopwatch
}

// Draft asks p for a draft, or takes in.Given, and stores the draft in r.Draft. It cuts the draft before the
// first token that is known to be forbidden, or after this token if it was drawn at random (spec.DropForbidden
// says why). It removes a stop token from the end, unless this token was drawn at random (dropEnd says why).
// tell, which may be nil, gets the progress of what p reads first. For a draft that stays on a device, Draft also
// runs the target's pass and stores it in r.Pass.
//
// If the proposer fails in this round only (spec.ErrNoDraft), Draft sets r.Failed and returns nil.
// After another error, the reply cannot go on with p.
func (d *Driver) Draft(ctx context.Context, p spec.Proposer, in *Input, tell Progress, r *Result) error {
	err := d.propose(ctx, p, in, tell, r)
	r.Proposed = len(r.Draft.Tokens)
	spec.DropForbidden(&r.Draft, in.Ask.Shapers)
	d.Watch.Lap(&r.Times.Draft)
	if r.Pass.OnDevice { // the host waited once for draft and pass together; the device has timed the pass
		r.Times.Verify = min(r.Pass.MS, r.Times.Draft)
		r.Times.Draft -= r.Times.Verify
	}
	if err != nil {
		r.Draft = spec.Draft{}
		if errors.Is(err, spec.ErrNoDraft) {
			r.Failed = err
			return nil
		}
		return fmt.Errorf("drafting by %s: %w", p.Name(), err)
	}
	dropEnd(&r.Draft, in.Terms.IsStop)
	return nil
}

func (d *Driver) propose(ctx context.Context, p spec.Proposer, in *Input, tell Progress, r *Result) (err error) {
	if in.Given != nil {
		r.Draft = spec.CertainDraft(in.Given)
		return nil
	}
	if r.Draft, err = p.Propose(ctx, in.Ask); err != nil {
		return err
	}
	if missed := r.Draft.Unread; missed > 0 {
		d.Watch.Lap(&r.Times.Draft)
		err = d.Watch.Reading(&r.Times.Read, tell, func(progress func(done, total int)) error { return p.Read(ctx, progress) })
		if err == nil {
			r.Draft, err = p.Propose(ctx, in.Ask)
		}
		if err != nil {
			return err
		}
		r.Read = missed
	}
	if r.Draft.Device != nil {
		r.Pass, err = d.Target.Score(ctx, in.Last, &r.Draft, &in.Terms)
	}
	return err
}

// dropEnd removes a stop token from the end of a greedy draft. Verifying it gains nothing: the row
// before it gives the target's own choice, and no token follows a stop token. A stop token that was
// drawn at random stays, because removing tokens by their value would change the distribution.
func dropEnd(draft *spec.Draft, isStop func(id int32) bool) {
	last := len(draft.Tokens) - 1
	if last < 0 || isStop == nil || draft.Q[last].P != nil || !isStop(draft.Tokens[last]) {
		return
	}
	draft.Cut(last)
}

// Verify scores the draft in one pass of the target, unless Draft has run this pass, and judges the draft.
func (d *Driver) Verify(ctx context.Context, in *Input, r *Result) (err error) {
	if r.Pass.Scores == nil {
		r.Pass, err = d.Target.Score(ctx, in.Last, &r.Draft, &in.Terms)
	}
	d.Watch.Lap(&r.Times.Verify)
	if err != nil {
		if len(r.Draft.Tokens) == 0 {
			return fmt.Errorf("computing the next token: %w", err)
		}
		return fmt.Errorf("verifying a draft of %d tokens: %w", len(r.Draft.Tokens), err)
	}
	r.Outcome, err = d.Verifier.Verify(r.Pass.Scores, r.Draft, in.Terms)
	r.BytesMoved, r.Syncs = r.Pass.Scores.Moved()
	d.Watch.Lap(&r.Times.Sample)
	return err
}

// Certain reports whether all tokens of a draft were chosen without chance.
func Certain(draft *spec.Draft) bool {
	for _, q := range draft.Q {
		if q.P != nil || q.IsElsewhere() {
			return false
		}
	}
	return true
}

package proof

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"specula/engine/sample"
	"specula/engine/spec"
)

// judgedTokens is how many tokens a trial writes.
const judgedTokens = 2

// tally is what trials of one case counted.
type tally struct {
	first, joint              []int
	trials                    int
	drafted, tested, accepted int
}

func (t *tally) add(o *tally) {
	for i, n := range o.first {
		t.first[i] += n
	}
	for i, n := range o.joint {
		t.joint[i] += n
	}
	t.trials += o.trials
	t.drafted += o.drafted
	t.tested += o.tested
	t.accepted += o.accepted
}

func newTally(b *bins) *tally {
	return &tally{first: make([]int, len(b.first)), joint: make([]int, len(b.p))}
}

// chunk is how many trials are played between two looks at the clock.
const chunk = 64

// playAll plays trials in all goroutines a proposer allows, until the deadline or the most of them.
func (t *trial) playAll(ctx context.Context, s *stage, b *bins, p Proposer, rule Rule, deadline time.Time) (*tally, error) {
	most := t.Trials
	if t.Params.Temperature == 0 {
		most = min(most, greedyTrials)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var wg sync.WaitGroup
	workers := t.workers(p)
	tallies, errs := make([]*tally, workers), make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			tallies[w] = newTally(b)
			errs[w] = t.play(ctx, s, b, p, rule, tallies[w], func() (from, to int) {
				from = int(next.Add(chunk)) - chunk
				if from >= most || from > 0 && !t.Now().Before(deadline) {
					return 0, 0
				}
				return from, min(from+chunk, most)
			})
			if errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	sum := newTally(b)
	for _, one := range tallies {
		sum.add(one)
	}
	return sum, firstCause(errs)
}

// firstCause prefers the error that made the others give up.
func firstCause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// play writes the trials that next hands out.
func (t *trial) play(ctx context.Context, s *stage, b *bins, p Proposer, rule Rule, sum *tally, next func() (from, to int)) error {
	wrap := s.wrap
	if p.Device != nil {
		wrap = func(_ string, m spec.Model) spec.Model { return m }
	}
	proposer, err := t.newProposer(s, p, wrap)
	if err != nil {
		return err
	}
	defer proposer.Close()
	verifier := rule.New()
	if r, ok := verifier.(interface{ Remember(*sample.Memo) }); ok {
		r.Remember(s.memo)
	}
	w := &writer{trial: t, stage: s, proposer: proposer, verifier: verifier, rule: rule.Name, sum: sum}
	if p.Device != nil {
		if w.device, err = p.Device(); err != nil {
			return err
		}
		defer w.device.Close()
	}
	for {
		from, to := next()
		if from == to {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := w.write(ctx, i); err != nil {
				return err
			}
			first, joint := b.cell(w.token(0), w.token(1))
			sum.first[first]++
			sum.joint[joint]++
			sum.trials++
		}
	}
}

// writer writes the two tokens behind a place as a reply is written: round by round.
type writer struct {
	*trial
	stage    *stage
	proposer spec.Proposer
	verifier Verifier
	device   Device // nil: what is remembered stands for the target's passes
	rule     spec.Rule
	uniforms sample.Uniforms
	sum      *tally
	written  []int32
	ended    bool
}

// token is the i-th of the last trial, -1 if the reply ended before.
func (w *writer) token(i int) int32 {
	if i < len(w.written) {
		return w.written[i]
	}
	return -1
}

func (w *writer) write(ctx context.Context, number int) error {
	w.written, w.ended = w.written[:0], false
	// A reply of its own, since some draws are numbered by their place in the reply and not by round.
	w.uniforms = sample.NewPhilox(w.Seed, 1+number)
	if _, err := w.proposer.Begin(ctx, w.stage.root, nil); err != nil {
		return err
	}
	if w.device != nil {
		if err := w.device.Begin(ctx, w.stage.root); err != nil {
			return err
		}
	}
	for round := 0; len(w.written) < judgedTokens && !w.ended; round++ {
		if err := w.round(ctx, round, w.Gammas[number%len(w.Gammas)]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) round(ctx context.Context, round, gamma int) error {
	ask := spec.Ask{Gamma: gamma, Params: w.Params, Uniforms: w.uniforms, Round: round, IsStop: w.IsStop, Trust: w.Trust}
	if w.device != nil {
		w.device.Ahead(ctx, &ask)
	}
	draft, err := w.proposer.Propose(ctx, ask)
	if err != nil && !errors.Is(err, spec.ErrNoDraft) {
		return fmt.Errorf("drafting: %w", err)
	}
	rows, err := w.rows(ctx, &ask, draft)
	if err != nil {
		return fmt.Errorf("the target's pass: %w", err)
	}
	out, err := w.verifier.Verify(rows, draft, spec.Terms{
		Params: w.Params, Uniforms: w.uniforms, Round: round, Written: len(w.written), Rule: w.rule, Typical: w.Typical, IsStop: w.IsStop,
	})
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	w.sum.drafted += len(draft.Tokens)
	w.sum.tested += out.Tested
	w.sum.accepted += out.Accepted
	ids := out.Committed()
	if len(ids) == 0 {
		return errors.New("a round wrote nothing")
	}
	w.written = append(w.written, ids...)
	w.ended = out.Stop
	if w.device != nil {
		if err := w.device.Committed(ids); err != nil {
			return fmt.Errorf("rolling the target back: %w", err)
		}
	}
	if err := w.proposer.Committed(ids); err != nil {
		return fmt.Errorf("rolling the proposer back: %w", err)
	}
	return nil
}

// rows are the target's behind what was written and drafted.
func (w *writer) rows(ctx context.Context, ask *spec.Ask, draft spec.Draft) (spec.Rows, error) {
	if w.device != nil {
		return w.device.Rows(ctx, ask, draft)
	}
	return w.stage.pass(ctx, w.written, draft.Tokens), nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"specula/engine/gamma"
	"specula/engine/sample"
	"specula/engine/spec"
)

const (
	// calibrationTime ends the measuring before the first reply. The demo pair needs about half of it; of a large model one
	// pass of a single row may be all that is known afterwards, and the controller finds out the rest.
	calibrationTime = 250 * time.Millisecond
	// calibrationRuns of each length, because what disturbs a measurement only ever adds time and the least of three is near the truth.
	calibrationRuns = 3
)

// calibrationRows are the lengths of pass that are measured, the most telling first.
func calibrationRows() []int { return []int{1, 5, 2, 9, 3} }

// calibrate measures what a target pass and a draft step cost, so that the first reply need not find out. The caches are
// empty afterwards.
func (s *Session) calibrate(ctx context.Context) error {
	deadline := s.engine.options.Now().Add(calibrationTime)
	step, err := s.draftStep(ctx)
	if err != nil {
		return fmt.Errorf("measuring a draft step: %w", err)
	}
	for _, rows := range calibrationRows() {
		for range calibrationRuns {
			if len(s.costs) > 0 && s.engine.options.Now().After(deadline) {
				return nil
			}
			ms, err := s.pass(ctx, rows)
			if err != nil {
				return fmt.Errorf("measuring a pass of %d rows: %w", rows, err)
			}
			s.costs = append(s.costs, gamma.Observation{Drafted: rows - 1, VerifyMS: ms, DraftMS: step * float64(rows-1)})
		}
	}
	return nil
}

// pass measures one target pass over an empty cache, in milliseconds.
func (s *Session) pass(ctx context.Context, rows int) (ms float64, err error) {
	rows = min(rows, s.cache.Cap())
	watch := s.engine.stopwatch()
	logits, err := s.engine.target.Forward(ctx, s.cache, make([]int32, rows))
	if err == nil {
		// The round ends when its numbers are on the host.
		err = logits.Argmax(make([]int32, rows))
	}
	watch.lap(&ms)
	return ms, errors.Join(err, s.cache.Truncate(0))
}

// draftStep measures one token of the draft model, in milliseconds; 0 without one.
func (s *Session) draftStep(ctx context.Context) (ms float64, err error) {
	p := s.proposers["draft"]
	if p == nil {
		return 0, nil
	}
	if _, err := p.Begin(ctx, make([]int32, 1), nil); err != nil {
		return 0, err
	}
	ask := spec.Ask{Gamma: 1, Uniforms: sample.NewPhilox(0, 0)}
	for range calibrationRuns {
		var once float64
		watch := s.engine.stopwatch()
		_, err := p.Propose(ctx, ask)
		watch.lap(&once)
		if err = errors.Join(err, p.Committed(nil)); err != nil && !errors.Is(err, spec.ErrNoDraft) {
			return 0, err
		}
		if ms == 0 || once < ms {
			ms = once
		}
	}
	return ms, p.Reset()
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"specula/engine/compute"
	"specula/engine/gamma"
	"specula/engine/sample"
	"specula/engine/spec"
)

const (
	// calibrationTime bounds the measuring before the first reply. The demo pair needs a small part of it. With a large model
	// there may be time for one pass of one row only; gamma's controller then learns the rest from replies.
	calibrationTime = 250 * time.Millisecond
	// calibrationRuns is the number of passes of each length. A disturbance only adds time, so the least of three is close to the
	// undisturbed time.
	calibrationRuns = 3
)

// plainPasses is the number of plain passes that are timed in any case, one for each path. They come first. The speed-up is
// estimated against them until replies have had plain rounds.
const plainPasses = 2

// calibrationContext is the number of tokens that a draft model reads before a rehearsed draft, to measure what reading costs.
const calibrationContext = 16

// calibrationRows are the rows of the passes that are measured, the most important first.
func calibrationRows() []int { return []int{1, 5, 2, 9, 3, 4, 7, 6, 8} }

// calibrate measures what rounds cost before the first reply: rounds of both paths and several lengths. The caches are empty
// afterwards.
func (s *Session) calibrate(ctx context.Context) (err error) {
	deadline := s.engine.options.Now().Add(calibrationTime)
	c := s.resolve(s.engine.options.Config)
	speculation := c.Speculation
	proposer, refused := s.proposer(speculation.Proposer, speculation)
	if refused == "" {
		s.rehearser = speculation.Proposer
		if heads, ok := proposer.(spec.HiddenReader); ok {
			err = s.rehearseHeads(ctx, heads)
		} else {
			_, err = proposer.Begin(ctx, make([]int32, 1), nil)
		}
		if err != nil {
			return fmt.Errorf("measuring how long drafting takes: %w", err)
		}
		defer func() { err = errors.Join(err, proposer.Reset()) }()
	}
	// Measure all lengths once before any is repeated. What runs first runs with cold caches; a plain round measured so would make
	// drafts look cheap.
	timed := 0
	for range calibrationRuns {
		for _, rows := range calibrationRows() {
			for _, params := range []sample.Params{{TopP: 1}, {Temperature: 1, TopP: 1}} {
				if timed >= plainPasses && s.engine.options.Now().After(deadline) {
					return nil
				}
				timed++
				if err := s.rehearse(ctx, proposer, min(rows, s.cache.Cap()), params); err != nil {
					return fmt.Errorf("measuring a round of %d rows: %w", rows, err)
				}
			}
		}
	}
	return nil
}

// rehearse runs one round over meaningless tokens and notes what it cost. Its verdicts mean nothing, so no token counts as tested.
func (s *Session) rehearse(ctx context.Context, proposer spec.Proposer, rows int, params sample.Params) error {
	var o gamma.Observation
	var draft spec.Draft
	var err error
	uniforms := sample.NewPhilox(0, 0)
	watch := s.engine.stopwatch()
	var judged ahead
	if proposer != nil && rows > 1 {
		if err := forgetContext(proposer); err != nil {
			return err
		}
		watch.skip()
		ask := spec.Ask{Gamma: rows - 1, Params: params, Uniforms: uniforms, Trust: 1,
			Reading: func(read func(progress func(done, total int)) error) error {
				defer watch.lap(&o.ReadMS)
				return read(nil)
			}}
		if s.engine.runsAhead() {
			ask.Ahead = func(t compute.Tokens, n int) (ids []int32, q []float64, err error) {
				judged, ids, q, err = runAhead(ctx, s.engine.target, s.cache, t, n, params)
				return ids, q, err
			}
		}
		draft, err = proposer.Propose(ctx, ask)
		watch.lap(&o.DraftMS)
		o.Read = draft.Read
		if err = errors.Join(err, proposer.Committed(nil)); err != nil && !errors.Is(err, spec.ErrNoDraft) {
			return err
		}
		watch.skip()
	}
	err = nil // a failed draft costs time as well
	var logits scores = judged
	if judged != nil {
		o.VerifyMS = min(judged.passMS(), o.DraftMS)
		o.DraftMS -= o.VerifyMS
	} else {
		for len(draft.Tokens) < rows-1 { // without a proposer, or with a draft that ended early
			draft.Tokens, draft.Q = append(draft.Tokens, 0), append(draft.Q, sample.OneHot(0))
		}
		logits, err = s.engine.target.Forward(ctx, s.cache, append([]int32{0}, draft.Tokens...))
		if err == nil {
			logits, _, err = s.judge(logits, draft, params, uniforms, 0)
		}
		watch.lap(&o.VerifyMS)
	}
	if err != nil {
		return err
	}
	outcome, err := s.verifier.Verify(logits, draft, spec.Terms{Params: params, Uniforms: uniforms})
	watch.lap(&o.RestMS)
	o.Drafted = rows - 1
	s.costs[outcome.Path] = append(s.costs[outcome.Path], o)
	return errors.Join(err, s.cache.Truncate(0))
}

// forgetContext gives a draft model that reads only on demand something to read before the next draft.
func forgetContext(p spec.Proposer) error {
	if _, ok := p.(spec.HiddenReader); ok {
		return nil // the target reads for it
	}
	reader, ok := p.(spec.Reader)
	if !ok {
		return nil
	}
	if err := reader.Reset(); err != nil {
		return err
	}
	_, err := reader.Follow(make([]int32, calibrationContext+1))
	return err
}

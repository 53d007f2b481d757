package speed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"specula/engine/compute"
	"specula/engine/model"
)

// Steps are the milliseconds of one decoding step, a pass of one row and the best token of it, of both models of a pair.
type Steps struct {
	TargetMS float64 `json:"targetMS"`
	DraftMS  float64 `json:"draftMS"`
	Ratio    float64 `json:"ratio"` // of the draft's to the target's
}

const (
	stepContext = 64 // tokens in front of the first step
	stepBlock   = 8  // steps of one model in a row, about as a draft's are in a round
	stepBlocks  = 61 // of each model
)

// MeasureSteps times blocks of greedy decoding by both models in turn, so that what else happens on the machine meets both alike, and
// takes the medians.
func MeasureSteps(ctx context.Context, target, draft *model.Model, now func() time.Time) (s Steps, err error) {
	lanes := []*lane{{model: target}, {model: draft}}
	for _, l := range lanes {
		if l.cache, err = l.model.NewCache(); err != nil {
			return Steps{}, err
		}
		defer func() { err = errors.Join(err, l.cache.Close()) }()
		if err := l.warm(ctx); err != nil {
			return Steps{}, fmt.Errorf("warming up: %w", err)
		}
	}
	for range stepBlocks {
		for _, l := range lanes {
			if err := l.block(ctx, now); err != nil {
				return Steps{}, fmt.Errorf("decoding: %w", err)
			}
		}
	}
	s = Steps{TargetMS: median(lanes[0].stepMS), DraftMS: median(lanes[1].stepMS)}
	if s.TargetMS > 0 {
		s.Ratio = s.DraftMS / s.TargetMS
	}
	return s, nil
}

// lane is one model with what was measured of it.
type lane struct {
	model  *model.Model
	cache  compute.Cache
	stepMS []float64 // means of blocks
}

func (l *lane) warm(ctx context.Context) error {
	prompt := make([]int32, stepContext)
	for i := range prompt {
		prompt[i] = int32((i*7919 + 13) % min(900, l.model.Config().Vocab))
	}
	if _, err := l.model.Prefill(ctx, l.cache, prompt, nil); err != nil {
		return err
	}
	if err := decode(ctx, l.model, l.cache, stepBlock); err != nil {
		return err
	}
	return l.cache.Truncate(stepContext)
}

// block decodes and takes it back.
func (l *lane) block(ctx context.Context, now func() time.Time) error {
	start := now()
	err := decode(ctx, l.model, l.cache, stepBlock)
	l.stepMS = append(l.stepMS, float64(now().Sub(start))/float64(time.Millisecond)/stepBlock)
	return errors.Join(err, l.cache.Truncate(stepContext))
}

// median is the middle one of an odd number of values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

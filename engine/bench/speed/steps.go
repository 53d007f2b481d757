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

// Steps are the milliseconds of one decoding step for both models of a pair. A step is a pass of one
// row and the choice of its best token.
type Steps struct {
	TargetMS float64 `json:"targetMS"` // medians
	DraftMS  float64 `json:"draftMS"`
	Ratio    float64 `json:"ratio"` // time of the draft's step divided by that of the target's step
	// LeastRatio is the ratio of the shortest steps, which a busy machine disturbs less.
	LeastRatio float64 `json:"leastRatio"`
}

const (
	stepContext = 64 // tokens before the first step
	stepBlock   = 8  // consecutive steps of one model, about as many as a draft has
	stepBlocks  = 61 // blocks of each model
)

// MeasureSteps times blocks of greedy decoding by both models in turn, so that disturbances meet
// both alike. It returns medians.
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
	for _, l := range lanes {
		slices.Sort(l.stepMS)
	}
	t, d := lanes[0].stepMS, lanes[1].stepMS
	s = Steps{TargetMS: t[len(t)/2], DraftMS: d[len(d)/2]}
	s.Ratio, s.LeastRatio = s.DraftMS/s.TargetMS, d[0]/t[0]
	return s, nil
}

// lane is one model with its measurements.
type lane struct {
	model  *model.Model
	cache  compute.Cache
	stepMS []float64
}

func (l *lane) warm(ctx context.Context) error {
	if _, err := l.model.Prefill(ctx, l.cache, promptOf(stepContext, l.model), nil); err != nil {
		return err
	}
	if err := compute.Checkpoint(l.cache); err != nil {
		return err
	}
	if err := decode(ctx, l.model, l.cache, stepBlock); err != nil {
		return err
	}
	return l.cache.Truncate(stepContext)
}

// block times single steps of decoding, and then removes their tokens from the cache.
func (l *lane) block(ctx context.Context, now func() time.Time) error {
	for range stepBlock {
		start := now()
		if err := decode(ctx, l.model, l.cache, 1); err != nil {
			return err
		}
		l.stepMS = append(l.stepMS, float64(now().Sub(start))/float64(time.Millisecond))
	}
	return l.cache.Truncate(stepContext)
}

package app

import (
	"context"
	"errors"
	"fmt"

	"specula/engine"
	"specula/engine/bench/speed"
	"specula/engine/config"
	"specula/engine/doctor"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
)

// PassOptions say which passes of a model to time.
type PassOptions struct {
	Path         string
	Threads      int // 0: as for replies (engine/host/cores.go)
	PromptTokens int
	DecodeTokens int
}

// Passes are the results of TimePasses.
type Passes struct {
	speed.Passes
	ResidentBytes int64 `json:"residentBytes"` // resident memory of this process after the passes
	WeightBytes   int64 `json:"weightBytes"`
	CacheBytes    int64 `json:"cacheBytes"`
}

// TimePasses measures prefill and plain decoding of a model file on the CPU.
func (a *App) TimePasses(ctx context.Context, o PassOptions) (any, error) {
	m, backend, err := loadOnCPU(ctx, engine.Source{Path: o.Path}, o.Threads, o.PromptTokens+o.DecodeTokens)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	passes, err := speed.MeasurePasses(ctx, m, o.PromptTokens, o.DecodeTokens, a.Now)
	return Passes{passes, doctor.ResidentBytes(), m.Config().WeightBytes, m.Config().CacheBytes}, err
}

// kernelCache is the size in tokens of the cache in which passes and steps are measured. It
// holds the tokens before a measurement and the longest pass (package speed).
const kernelCache = 256

// Kernels times the matrix products and the passes of the target on the CPU.
func (a *App) Kernels(ctx context.Context, c config.Config) (Report, error) {
	target, _ := models(c)
	m, backend, err := loadOnCPU(ctx, target, c.Device.Threads, kernelCache)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	k, err := speed.MeasureKernels(ctx, backend, m, backend.Ceilings, a.Now)
	if err != nil {
		return nil, err
	}
	k.Model = target.Path + target.Name
	return k, nil
}

// timeSteps times a decoding step of target and draft model on one core.
func (a *App) timeSteps(ctx context.Context, c config.Config) (speed.Steps, error) {
	var both [2]*model.Model
	target, draft := models(c)
	for i, source := range []engine.Source{target, draft} {
		m, backend, err := loadOnCPU(ctx, source, 1, kernelCache)
		if err != nil {
			return speed.Steps{}, err
		}
		defer backend.Close()
		both[i] = m
	}
	return speed.MeasureSteps(ctx, both[0], both[1], a.Now)
}

// loadOnCPU loads a model without tokenizer or session. Each of its caches has room for the given
// number of tokens.
func loadOnCPU(ctx context.Context, s engine.Source, threads, tokens int) (*model.Model, *host.Backend, error) {
	f, err := openWeights(ctx, s)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", engine.ErrModel, err)
	}
	backend := host.New(threads)
	m, err := model.Load(ctx, backend, f, model.Options{MaxTokens: tokens, PrefillRows: min(tokens, 512), CacheBySize: true}, nil)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%w: %w", engine.ErrModel, err), backend.Close())
	}
	return m, backend, nil
}

func openWeights(ctx context.Context, s engine.Source) (*weights.File, error) {
	if s.Embedded != nil {
		return weights.Parse(s.Name, s.Embedded)
	}
	return model.Open(ctx, s.Path, nil)
}

package app

import (
	"context"

	"specula/assets"
	"specula/engine/bench"
	"specula/engine/config"
)

// BenchOptions say what to measure.
type BenchOptions struct {
	Config     config.Config
	PromptText string // content of a file with one prompt per line; "": the built-in prompts
	GSM8K      string // path of a GSM8K file whose questions are used instead; "": none
	Count      int    // largest number of prompts
	GenTokens  int    // largest number of tokens of a reply
	Repeats    int    // how often each prompt is measured; 0: once
}

// Bench measures what speculation gains. progress gets the number of prompts done; each repeat of a
// prompt counts.
func (a *App) Bench(ctx context.Context, o BenchOptions, progress func(done, total int)) (Report, error) {
	prompts, set := assets.Prompts(), ""
	var err error
	switch {
	case o.GSM8K != "":
		set = "gsm8k"
		if prompts, err = bench.OpenGSM8K(o.GSM8K, o.Count); err != nil {
			return nil, err
		}
	case o.PromptText != "":
		prompts = assets.ParsePrompts(o.PromptText)
	}
	c, err := a.silently(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := bench.Run(ctx, c, bench.Options{
		Prompts: prompts[:min(o.Count, len(prompts))], GenTokens: o.GenTokens, Repeats: o.Repeats,
		Temperature: o.Config.Sampling.Temperature, Seed: o.Config.Sampling.Seed,
	}, progress)
	if err != nil {
		return nil, err
	}
	s := o.Config.Speculation
	r.About = bench.About{
		Ready: c.Ready(), PromptSet: set, Proposer: bench.Drafter(s.Proposer, c.Ready()),
		Gamma: s.Gamma, GammaMax: s.GammaMax, GammaRule: s.Rule, Acceptance: s.Acceptance,
	}
	return r, nil
}

// GammaOptions say which draft lengths to compare, and with which prompts.
type GammaOptions struct {
	Config       config.Config
	Gammas       []int
	Sets         []string // names of built-in kinds of prompt; nil: all
	Temperatures []float64
	Count        int // largest number of prompts of each set
	GenTokens    int
	Repeats      int
}

// CompareGammas compares draft lengths on the built-in kinds of prompt. progress gets the number of
// finished cells of the report: a cell is one kind of prompt at one temperature.
func (a *App) CompareGammas(ctx context.Context, o GammaOptions, progress func(done, total int)) (Report, error) {
	options := bench.GammaOptions{Gammas: o.Gammas, Temperatures: o.Temperatures, GenTokens: o.GenTokens, Repeats: o.Repeats, Seed: 1}
	for _, set := range assets.Sets() {
		options.Sets = append(options.Sets, bench.PromptSet{Name: set.Name, Prompts: set.Prompts[:min(o.Count, len(set.Prompts))]})
	}
	var err error
	if options.Sets, err = bench.Choose(options.Sets, o.Sets); err != nil {
		return nil, err
	}
	c, err := a.silently(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := bench.CompareGammas(ctx, c.another, options, progress)
	if err != nil {
		return nil, err
	}
	r.About = bench.About{Ready: c.Ready(), Proposer: bench.Drafter(o.Config.Speculation.Proposer, c.Ready())}
	return r, nil
}

package app

import (
	"context"

	"specula/assets"
	"specula/engine"
	"specula/engine/agreement"
	"specula/engine/bench/pair"
	"specula/engine/bench/speed"
	"specula/engine/config"
	"specula/engine/doctor"
	"specula/engine/exam"
	"specula/engine/proof"
)

// ProofOptions say which replies to compare with plain sampling, and for how long.
type ProofOptions struct {
	Config    config.Config
	Prompt    string
	Seconds   float64  // time for all combinations together
	Trials    int      // largest number of replies for one combination
	Proposers []string // names; nil: all in the register, and the one in force
	Rule      string   // "": every lossless rule, and the one in force
}

// VerifyDist compares the text of speculation with that of plain sampling. progress gets the number
// of finished combinations of a proposer and a rule.
func (a *App) VerifyDist(ctx context.Context, o ProofOptions, progress func(done, total int)) (Report, error) {
	c, err := a.silently(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.VerifyDist(ctx, engine.ProofOptions{
		Options: proof.Options{Seconds: o.Seconds, Replies: o.Trials, Seed: uint64(max(o.Config.Sampling.Seed, 0)), Now: a.Now},
		Prompt:  o.Prompt, Proposers: o.Proposers, Rules: engine.RulesOnTrial(o.Rule),
	}, progress)
}

// DoctorOptions say what to examine.
type DoctorOptions struct {
	Config  config.Config
	Seconds float64 // approximate time for the measurements
}

// Doctor examines models and device. progress gets the name of each examination before it begins.
func (a *App) Doctor(ctx context.Context, o DoctorOptions, progress func(what string)) (Report, error) {
	c, err := a.silently(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Examine(ctx, doctor.Options{Seconds: o.Seconds, Prompts: assets.Prompts(), Now: a.Now}, progress)
}

// PairOptions say how to examine a pair of models.
type PairOptions struct {
	Config  config.Config
	Holdout string             // path of a file of dialogues to measure α on; "": α is not measured
	Goals   map[string]float64 // by name of a figure, see pair.Options; nil: no goals
}

// EvalPair lets a pair of models sit the exam, and compares its results with the goals. The results are the
// share of right answers in each paper, with a draft model its cost, and with a draft model and a holdout the
// agreement of the two models. progress gets the number of questions done.
func (a *App) EvalPair(ctx context.Context, o PairOptions, progress func(done, total int)) (Report, error) {
	options := pair.Options{Temperatures: []float64{0, 0.7, 1}, Goals: o.Goals}
	for _, p := range assets.Exam() {
		paper, err := exam.Read(p.Name, p.Text)
		if err != nil {
			return nil, err
		}
		options.Papers = append(options.Papers, paper)
	}
	var err error
	if o.Holdout != "" {
		if options.Dialogues, err = agreement.ReadFile(o.Holdout); err != nil {
			return nil, err
		}
	}
	c, err := a.silently(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	subject := pair.Subject{Answer: func(ctx context.Context, conversation []engine.Message) (string, error) {
		return c.Answer(ctx, conversation, "sampling.temperature", "0")
	}}
	if c.Ready().Draft != nil {
		subject.Agreement = func(ctx context.Context, talks []agreement.Talk, temperatures []float64) (*agreement.Report, error) {
			return c.engine.Agreement(ctx, talks, temperatures, nil)
		}
		subject.Steps = func(ctx context.Context) (speed.Steps, error) { return a.timeSteps(ctx, o.Config) }
	}
	r, err := pair.Run(ctx, subject, options, progress)
	if err != nil {
		return nil, err
	}
	r.Target, r.Draft = c.Ready().Target, c.Ready().Draft
	return r, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/app"

	"github.com/spf13/cobra"
)

const (
	// defaultProofPrompt has many likely replies, so that sampling can give different texts.
	defaultProofPrompt = "I have two dogs and I love to hike."
	maxProofSeconds    = 86400       // highest value of --seconds, a day
	maxProofTrials     = 100_000_000 // highest value of --trials
)

func (a *invocation) verifyDistCommand() *cobra.Command {
	o := app.ProofOptions{}
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify-dist [-p TEXT]",
		Short: "Prove on your own models that speculation does not change what is written",
		Long: `verify-dist lets this chat write whole replies, with all settings in force: filters, penalties,
biases and bans, --min-tokens, a form of the reply, guidance. For every token of them it computes
the target's exact distribution by another way, which knows nothing of drafts, and tests whether
the tokens have it: all of them, at each place of a round, beside those before them, and in the
lengths of replies.

What this chat would do comes first and has half of the time; all other proposers and exact
acceptance rules share the rest. --proposer and --acceptance restrict it to one; --acceptance
typical-lossy shows what a rule looks like that changes the distribution.

It says how large a fault it would have noticed with a probability of 99 %; with more seconds it
notices smaller ones. It fails (exit code 1) when something differs; code without fault fails once
in 10,000 runs.`,
		Example: `  specula verify-dist
  specula verify-dist -p "Write a poem" --temperature 1 --top-p 0.95 --seconds 120
  specula verify-dist --acceptance block --proposer draft --json`,
		Args: noSuchCommand,
		RunE: a.begin(func(c *cobra.Command, _ []string) error { return a.verifyDist(c.Context(), o, asJSON) }),
	}
	c.Flags().StringVarP(&o.Prompt, "prompt", "p", defaultProofPrompt, "`TEXT` that the reply answers; - reads it from stdin")
	c.Flags().Float64Var(&o.Seconds, "seconds", 50, "time for all combinations together")
	c.Flags().IntVar(&o.Trials, "trials", 200_000, "replies of one combination, at most")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON in place of the table")
	a.addSettings(c)
	return c
}

func (a *invocation) verifyDist(ctx context.Context, o app.ProofOptions, asJSON bool) error {
	if !(o.Seconds > 0 && o.Seconds <= maxProofSeconds) {
		return usagef("--seconds must be above 0 and at most %d, got %g", maxProofSeconds, o.Seconds)
	}
	if o.Trials < 1 || o.Trials > maxProofTrials {
		return usagef("--trials must be 1 to %d, got %d", maxProofTrials, o.Trials)
	}
	var err error
	if o.Prompt, err = a.prompt(o.Prompt); err != nil {
		return err
	}
	if o.Config, err = a.toldSettings(); err != nil {
		return err
	}
	if a.overrides.given("speculation.proposer") {
		o.Proposers = []string{o.Config.Speculation.Proposer}
	}
	if a.overrides.given("speculation.acceptance") {
		o.Rule = o.Config.Speculation.Acceptance
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.VerifyDist(ctx, o, a.countProgress("combination"))
	return a.conclude(r, err, asJSON, errors.New("not shown to be lossless; the report says why"))
}

func (a *invocation) doctorCommand() *cobra.Command {
	var o app.DoctorOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine models and device: are they right, do they fit, does speculation pay?",
		Long: `doctor checks that the target computes the same bits whether it verifies or decodes, for every
number of rows up to the longest draft, at every layer, also where two tokens are nearly tied;
that draft model and target share a vocabulary; that memory suffices. It measures what passes and
drafts cost and what is accepted, and recommends a proposer and γ.

Every line says ok, warn or fail, and what to do. It fails (exit code 1) on any fail.`,
		Example: `  specula doctor
  specula doctor --target Qwen3-8B-Q8_0.gguf --draft Qwen3-0.6B-Q8_0.gguf --json`,
		Args: noSuchCommand,
		RunE: a.begin(func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), o, asJSON) }),
	}
	c.Flags().Float64Var(&o.Seconds, "seconds", 30, "time for the measurements, about")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON in place of the table")
	a.addSettings(c)
	return c
}

func (a *invocation) doctor(ctx context.Context, o app.DoctorOptions, asJSON bool) error {
	if !(o.Seconds > 0 && o.Seconds <= maxProofSeconds) {
		return usagef("--seconds must be above 0 and at most %d, got %g", maxProofSeconds, o.Seconds)
	}
	var err error
	if o.Config, err = a.toldSettings(); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.Doctor(ctx, o, a.lineProgress())
	return a.conclude(r, err, asJSON, errors.New("something is wrong; the report says what, and what to do"))
}

// conclude ends a command that has a report r or has failed with err. It returns err with its exit code.
// If err is nil, it prints the report, and returns found if the report found a fault.
func (a *invocation) conclude(r app.Report, err error, asJSON bool, found error) error {
	if err != nil {
		return a.classify(err)
	}
	if err := a.printReport(r, asJSON); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	if !r.Matched() {
		return found
	}
	return nil
}

// lineProgress returns a function that shows a text on one line of a terminal's stderr; "" clears the
// line. If stderr is not a terminal, the function does nothing.
func (a *invocation) lineProgress() func(what string) {
	if !a.Terminal.StderrTTY {
		return func(string) {}
	}
	return func(what string) { fmt.Fprintf(a.Terminal.Stderr, "\r%-60.60s\r", what) }
}

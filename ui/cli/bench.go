package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine/app"
	"specula/engine/config"
	"specula/ui/sanitize"
)

type benchFlags struct {
	prompts    int
	genTokens  int
	promptFile string
	promptSet  string
	json       bool
	kernels    bool
	repeats    int // 0: not given
	gamma      gammaFlags
}

func (a *invocation) benchCommand() *cobra.Command {
	var o benchFlags
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure what speculation gains, and check that it changes nothing",
		Long: `bench answers each prompt four times: plainly and speculatively, greedily and sampled.
It prints whether the greedy texts are identical, the acceptance, and the speed-up with a
95 % confidence interval beside what the formula predicts from the measured costs.
Then it runs the greedy replies again, token by token and in the rounds that verified them,
and counts the positions whose scores differ in a bit.
It fails (exit code 1) when a greedy text or a score differs.

The greedy figures stand in the JSON once more as matched, verify_decode_mismatches,
acceptance_rate (accepted of all drafted), speedup_e2e, spec_e2e_tpot_ms,
baseline_e2e_tpot_ms and tokens_per_target_step.

With --gammas it compares draft lengths with each other and with the cost-aware rule instead,
on several kinds of prompt and at several temperatures, one row of a table each.

γ is fixed here unless --gamma-rule says otherwise. Sampled replies use the temperature in
force, or 0.7 when that is 0.`,
		Example: `  specula bench --prompts 50 --gen-tokens 64 --gamma 4
  specula bench --gammas 0-8 --temperatures 0,0.7 --sets "small talk"
  specula bench --prompts 50 --gen-tokens 256 --prompt-set gsm8k=test.jsonl --json
  specula bench --proposer ngram --prompt-file my-prompts.txt --json > ngram.json`,
		Args: noSuchCommand,
		RunE: a.begin(func(c *cobra.Command, _ []string) error { return a.bench(c.Context(), o) }),
	}
	c.Flags().IntVar(&o.prompts, "prompts", 50, "how many prompts to use")
	c.Flags().IntVar(&o.genTokens, "gen-tokens", 64, "tokens of each reply")
	c.Flags().StringVar(&o.promptFile, "prompt-file", "", "`FILE` with a prompt a line, in place of the built-in ones")
	c.Flags().StringVar(&o.promptSet, "prompt-set", "", "`gsm8k=FILE`: questions of a JSONL file of GSM8K, in place of the built-in prompts")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON in place of the table")
	c.Flags().BoolVar(&o.kernels, "kernels", false, "measure the matrix products on the CPU")
	c.Flags().StringVar(&o.gamma.gammas, "gammas", "", "compare these draft lengths, such as 0-8, and the cost-aware rule")
	c.Flags().StringSliceVar(&o.gamma.sets, "sets", nil, "with --gammas: kinds of prompt: "+strings.Join(a.PromptSets, ", ")+" (default all)")
	c.Flags().Float64SliceVar(&o.gamma.temperatures, "temperatures", []float64{0, 0.7, 1.2}, "with --gammas: temperatures")
	c.Flags().IntVar(&o.repeats, "repeats", 0, "how often every reply is measured; the median counts (default 1, with --gammas 5)")
	complete(c, "sets", completeList(a.PromptSets))
	a.addSettings(c)
	return c
}

// benchKernels measures matrix products of the CPU instead of replies.
func (a *invocation) benchKernels(ctx context.Context, asJSON bool) error {
	c, err := a.toldSettings()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.Kernels(ctx, c)
	if err != nil {
		return a.classify(err)
	}
	if err := a.printReport(r, asJSON); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	return nil
}

func (a *invocation) bench(ctx context.Context, o benchFlags) error {
	gsm8k, err := o.gsm8k()
	if err != nil {
		return err
	}
	if o.kernels {
		return a.benchKernels(ctx, o.json)
	}
	if o.gamma.gammas != "" {
		return a.benchGammas(ctx, o)
	}
	if o.prompts < 1 {
		return usagef("--prompts must be at least 1, got %d", o.prompts)
	}
	if o.repeats < 0 {
		return usagef("--repeats must be at least 1, got %d", o.repeats)
	}
	limits := config.Default() // only to check genTokens, which becomes max_tokens of each reply
	if err := limits.Set("sampling.max_tokens", strconv.Itoa(o.genTokens)); err != nil {
		return usagef("--gen-tokens: %w", err)
	}
	options := app.BenchOptions{Count: o.prompts, GenTokens: o.genTokens, Repeats: o.repeats, GSM8K: gsm8k}
	if o.promptFile != "" {
		text, err := readBounded(o.promptFile, maxPromptBytes)
		if err != nil {
			return usagef("reading the prompts: %v", err)
		}
		if options.PromptText = string(text); strings.TrimSpace(options.PromptText) == "" {
			return usagef("%s has no prompts: write one a line", o.promptFile)
		}
	}
	// Defaults of a measurement: a fixed γ, and the costs of this machine.
	for _, v := range []config.Value{{Name: "speculation.gamma_rule", Text: "fixed"}, {Name: "speculation.costs", Text: "measured"}} {
		if !a.overrides.given(v.Name) {
			a.overrides.values = append(a.overrides.values, v)
		}
	}
	if options.Config, err = a.toldSettings(); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.Bench(ctx, options, a.countProgress("prompt"))
	if err != nil {
		return a.classify(err)
	}
	if err := a.printReport(r, o.json); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	if !r.Matched() {
		return fmt.Errorf("with speculation a greedy text differs, or the scores of one: the report says which")
	}
	return nil
}

// gsm8k returns the path in --prompt-set; "" for none.
func (o *benchFlags) gsm8k() (string, error) {
	elsewhere := o.kernels || o.gamma.gammas != ""
	switch path, ok := strings.CutPrefix(o.promptSet, "gsm8k="); {
	case elsewhere && (o.promptSet != "" || o.promptFile != ""):
		return "", usagef("--prompt-set and --prompt-file have no effect with --gammas, which has --sets, or with --kernels: leave them out")
	case o.promptSet == "":
		return "", nil
	case o.promptFile != "":
		return "", usagef("--prompt-set and --prompt-file both name prompts: give one of them")
	case !ok || path == "":
		return "", usagef("--prompt-set cannot be %.64q: allowed is gsm8k=FILE, with the path of a JSONL file of that set, such as test.jsonl", o.promptSet)
	default:
		return path, nil
	}
}

// printReport prints a report. It makes texts from files safe: names of models, and prompts.
func (a *invocation) printReport(r app.Report, asJSON bool) error {
	var b strings.Builder
	if asJSON {
		enc := json.NewEncoder(&b)
		enc.SetIndent("", "  ")
		if err := enc.Encode(r); err != nil {
			return err
		}
		_, err := io.WriteString(a.Terminal.Stdout, escapeJSON(b.String()))
		return err
	}
	if err := r.WriteTable(&b); err != nil {
		return err
	}
	_, err := io.WriteString(a.Terminal.Stdout, sanitize.Text(b.String()))
	return err
}

// countProgress returns a function that shows a count on a terminal's stderr. If stderr is not a
// terminal, the function does nothing.
func (a *invocation) countProgress(what string) func(done, total int) {
	if !a.Terminal.StderrTTY {
		return func(int, int) {}
	}
	return func(done, total int) {
		fmt.Fprintf(a.Terminal.Stderr, "\r%s %d of %d", what, done, total)
		if done == total {
			fmt.Fprintf(a.Terminal.Stderr, "\r%40s\r", "")
		}
	}
}

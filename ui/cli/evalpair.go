package cli

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"specula/engine/app"

	"github.com/spf13/cobra"
)

type pairFlags struct {
	holdout string
	goals   []string
	json    bool
}

func (a *invocation) evalPairCommand() *cobra.Command {
	var f pairFlags
	c := &cobra.Command{
		Use:   "eval-pair",
		Short: "Examine a pair of models: what it knows, how well it agrees, what its draft costs",
		Long: `eval-pair asks the target the questions of the exam at temperature 0, with speculation on, and
grades the replies by fixed rules: about the program, general ones, sentences to copy, counting.
It prints each miss and the share of each part.

With --holdout it measures α, the probability that a drafted token is accepted, on dialogues that
were left out of training: one JSON object a line, {"turns": [["user", "…"], ["assistant", "…"]]}.
Both models read them, and the mean of Σ min(p, q) over the assistant's tokens is taken at
temperatures 0, 0.7 and 1; where the lines name different sources ("source": "…"), also by source.

Last it times a decoding step of both models on one core.

--min sets goals: program, general, copying, counting, alpha-0, alpha-0.7 and alpha-1 must be at
least, cost (of a draft step, in target steps) at most so much. It fails (exit code 1) when one is
missed.`,
		Example: `  specula eval-pair --target target.gguf --draft draft.gguf --holdout holdout.jsonl
  specula eval-pair --min program=0.85 --min general=0.7 --min cost=0.12 --json`,
		Hidden: true,
		Args:   noSuchCommand,
		RunE:   a.begin(func(c *cobra.Command, _ []string) error { return a.evalPair(c.Context(), f) }),
	}
	c.Flags().StringVar(&f.holdout, "holdout", "", "`FILE` of dialogues to measure α on")
	c.Flags().StringArrayVar(&f.goals, "min", nil, "a goal, `NAME=VALUE`; may be repeated")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON in place of the table")
	a.addSettings(c)
	return c
}

func (a *invocation) evalPair(ctx context.Context, f pairFlags) error {
	o := app.PairOptions{Holdout: f.holdout}
	var err error
	if o.Goals, err = goals(f.goals); err != nil {
		return err
	}
	if o.Config, err = a.toldSettings(); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.EvalPair(ctx, o, a.countProgress("question"))
	return a.conclude(r, err, f.json, errors.New("a goal was missed; the report says which"))
}

// goals reads NAME=VALUE pairs.
func goals(list []string) (map[string]float64, error) {
	var read map[string]float64
	for _, text := range list {
		name, value, _ := strings.Cut(text, "=")
		number, err := strconv.ParseFloat(value, 64)
		if name == "" || err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return nil, usagef("--min must be NAME=VALUE with a number, got %.64q", text)
		}
		if _, twice := read[name]; twice {
			return nil, usagef("--min %.64s is there twice", name)
		}
		if read == nil {
			read = map[string]float64{}
		}
		read[name] = number
	}
	return read, nil
}

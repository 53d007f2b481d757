package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"
)

// PassOptions say which passes of a model to time.
type PassOptions struct {
	Path         string
	Threads      int
	PromptTokens int
	DecodeTokens int
}

func (a *app) timePassesCommand() *cobra.Command {
	var o PassOptions
	c := &cobra.Command{
		Use:   "time-passes FILE",
		Short: "Time one prefill and plain decoding of a model file on the CPU",
		Long: `time-passes loads a model file and times one prefill and plain greedy decoding behind it, for
comparison with other programs. It prints tokens per second, and the memory taken, as a line
of JSON.`,
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			o.Path = args[0]
			return a.timePasses(c.Context(), o)
		}),
	}
	c.Flags().IntVar(&o.Threads, "threads", 0, "threads; 0: one per core")
	c.Flags().IntVar(&o.PromptTokens, "prompt-tokens", 512, "tokens of the prefill")
	c.Flags().IntVar(&o.DecodeTokens, "decode-tokens", 64, "tokens decoded behind it")
	return c
}

func (a *app) timePasses(ctx context.Context, o PassOptions) error {
	if o.PromptTokens < 1 || o.DecodeTokens < 1 {
		return usagef("--prompt-tokens and --decode-tokens must be at least 1, got %d and %d", o.PromptTokens, o.DecodeTokens)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	figures, err := a.TimePasses(ctx, o)
	if err != nil {
		return a.classify(err)
	}
	return json.NewEncoder(a.Terminal.Stdout).Encode(figures)
}

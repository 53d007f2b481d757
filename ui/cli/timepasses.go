package cli

import (
	"context"
	"encoding/json"

	"specula/engine/app"

	"github.com/spf13/cobra"
)

func (a *invocation) timePassesCommand() *cobra.Command {
	var o app.PassOptions
	c := &cobra.Command{
		Use:   "time-passes FILE",
		Short: "Time one prefill and plain decoding of a model file on the CPU",
		Long: `time-passes loads a model file and times one prefill and plain greedy decoding after it, for
comparison with other programs. It prints tokens per second, and the memory taken, as a line
of JSON.`,
		Hidden: true,
		Args:   arguments(1, 1),
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			o.Path = args[0]
			return a.timePasses(c.Context(), o)
		}),
	}
	c.Flags().IntVar(&o.Threads, "threads", 0, "threads; 0: one per core")
	c.Flags().IntVar(&o.PromptTokens, "prompt-tokens", 512, "tokens of the prefill")
	c.Flags().IntVar(&o.DecodeTokens, "decode-tokens", 64, "tokens decoded after it")
	return c
}

func (a *invocation) timePasses(ctx context.Context, o app.PassOptions) error {
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

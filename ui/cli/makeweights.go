package cli

import "github.com/spf13/cobra"

func (a *invocation) makeWeightsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "make-weights SHAPE TYPE FILE",
		Short: "Write a model file with random weights, to measure speed with",
		Long: `make-weights writes a GGUF file of a published shape whose weights are noise. It decodes as fast
as the real model and says nothing sensible. Shapes are qwen3-0.6b, qwen3-1.7b, qwen3-8b, qwen3-moe-1b (a
mixture of experts), qwen3.5-0.8b (with recurrent layers), tiny and tiny-moe; types are ` + a.WeightTypes + `. The file must not exist.

The shape hostile-draft, of type Q8_0, is the demo draft model with its weights in disorder: a draft for
the demo target of which nothing is ever accepted, to see what speculation costs at worst.`,
		Hidden: true,
		Args:   arguments(3, 3),
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			ctx, stop := interruptible(c.Context())
			defer stop()
			return a.classify(a.MakeWeights(ctx, args[0], args[1], args[2]))
		}),
	}
}

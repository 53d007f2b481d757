package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine/app"
	"specula/engine/config"
)

type auditFlags struct {
	plain, promptFile  string
	prompts, genTokens int
	json               bool
}

func (a *invocation) auditCommand() *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:   "audit URL",
		Short: "Judge a server's own speculation: does it change the text, and what does it gain?",
		Long: `audit asks a llama-server or a vLLM the same prompts with its own speculation and without, at
temperature 0, where speculation must change nothing. It prints the share of texts that differ,
where each parts and how close the two best tokens were there, the acceptance, the speed, and
whether the rounds that the server told add up to its own counters.

Without speculation, the same server is asked for one token a request, which no engine speculates
on. With --plain, another server of the same model is asked, and the speeds are compared, too.

A near tie may fall either way in another batch, without a fault. audit fails (exit code 1) when a
text differs. A model other than the built-in one needs --vocabulary.`,
		Example: `  specula audit http://gpu:8080 --vocabulary Qwen3-8B-Q8_0.gguf
  specula audit http://gpu:8080 --plain http://gpu:8081 --prompts 100 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("audit takes one address, such as http://127.0.0.1:8080")
			}
			return nil
		},
		RunE: a.begin(func(c *cobra.Command, args []string) error { return a.audit(c.Context(), args[0], f) }),
	}
	c.Flags().StringVar(&f.plain, "plain", "", "`URL` of a server that has the same model and does not speculate")
	c.Flags().IntVar(&f.prompts, "prompts", 50, "how many prompts to ask")
	c.Flags().IntVar(&f.genTokens, "gen-tokens", 64, "tokens of each reply")
	c.Flags().StringVar(&f.promptFile, "prompt-file", "", "`FILE` with a prompt a line, in place of the built-in ones")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON in place of the table")
	a.addSettings(c)
	return c
}

func (a *invocation) audit(ctx context.Context, url string, f auditFlags) error {
	if f.prompts < 1 {
		return usagef("--prompts must be at least 1, got %d", f.prompts)
	}
	o := app.AuditOptions{Plain: f.plain, Count: f.prompts}
	if f.promptFile != "" {
		text, err := readBounded(f.promptFile, maxPromptBytes)
		if err != nil {
			return usagef("reading the prompts: %v", err)
		}
		if o.PromptText = string(text); strings.TrimSpace(o.PromptText) == "" {
			return usagef("%s has no prompts: write one a line", f.promptFile)
		}
	}
	a.overrides.values = append(a.overrides.values, config.Value{Name: "remote.url", Text: url})
	var err error
	if o.Config, err = a.toldSettings(); err != nil {
		return err
	}
	if err := o.Config.Set("sampling.max_tokens", strconv.Itoa(f.genTokens)); err != nil {
		return usagef("--gen-tokens: %w", err)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.Audit(ctx, o, a.countProgress("prompt"))
	return a.conclude(r, err, f.json, errors.New("a text differs with the server's speculation; the report says where"))
}

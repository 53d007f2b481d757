package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine"
	"specula/engine/app"
)

// maxPromptBytes limits what is read into memory: a prompt on stdin, or a file of prompts.
const maxPromptBytes = 4 << 20

type runFlags struct {
	prompt string
	json   bool
	plain  bool
	trace  traceFlags
}

func (a *invocation) runCommand() *cobra.Command {
	var o runFlags
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Answer one prompt, without the screen",
		Long: `run answers one prompt, given as an argument or from a pipe, and ends.
The answer goes to stdout, statistics and notices to stderr. A pipe or a file gets it as it
was written, a terminal without escape sequences and other traps. With --json, stdout gets
every event of the engine as a line of JSON instead.`,
		Example: `  specula run "What is speculative decoding?"
  echo "Why is the sky blue?" | specula run --temperature 0 --gamma 4
  specula run hello --json | head -3
  specula run hello --trace hello.jsonl && specula replay hello.jsonl`,
		Args: cobra.ArbitraryArgs,
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			var err error
			if o.prompt, err = onePrompt(c, o.prompt, args); err != nil {
				return err
			}
			return a.run(c.Context(), o)
		}),
	}
	c.Flags().StringVarP(&o.prompt, "prompt", "p", "", "the prompt as a flag; `TEXT` - stands for stdin")
	c.Flags().BoolVar(&o.json, "json", false, "print the events as JSON lines")
	c.Flags().BoolVar(&o.plain, "plain", false, "print the finished answer at once, without colours")
	o.trace.add(c.Flags())
	a.addSettings(c)
	return c
}

func (a *invocation) run(ctx context.Context, o runFlags) error {
	c, _, err := a.settings() // before stdin is read, which may take long
	if err != nil {
		return err
	}
	prompt, err := a.prompt(o.prompt)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	out, err := a.newOutput(c, o)
	if err != nil {
		return err
	}
	return errors.Join(a.answer(ctx, prompt, out), out.close())
}

// answer loads the models and writes one reply.
func (a *invocation) answer(ctx context.Context, prompt string, out *output) error {
	session, err := a.open(ctx, out.config, out.put)
	if err != nil {
		return a.classify(err)
	}
	defer session.Close()
	if _, err := out.reply(ctx, session, []engine.Message{{Role: "user", Content: prompt}}); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// onePrompt returns the prompt that is given as a flag or as an argument; "" if there is none.
func onePrompt(c *cobra.Command, flag string, args []string) (string, error) {
	switch {
	case len(args) == 2 && app.IsModel(args[1]):
		return "", usagef("%q stands where only a prompt may; a model goes after --target: %s %q --target %q", args[1], c.CommandPath(), args[0], args[1])
	case len(args) > 1:
		return "", usagef("the prompt needs quotes: %s %q", c.CommandPath(), strings.Join(args, " "))
	case flag != "" && len(args) > 0:
		return "", usagef("the prompt is given twice: as an argument and by -p")
	}
	return cmp.Or(flag, strings.Join(args, "")), nil
}

// prompt returns the text that was given, or reads stdin if the text is "" or "-".
func (a *invocation) prompt(text string) (string, error) {
	if text == "" || text == "-" {
		if a.Terminal.StdinTTY && text == "" {
			return "", usagef("there is no prompt: specula run \"…\", or pipe it in")
		}
		data, err := io.ReadAll(io.LimitReader(a.Terminal.Stdin, maxPromptBytes+1))
		if err != nil {
			return "", fmt.Errorf("reading the prompt from stdin: %w", err)
		}
		if len(data) > maxPromptBytes {
			return "", usagef("the prompt on stdin is longer than %d bytes", maxPromptBytes)
		}
		text = string(data)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", usagef("the prompt is empty: specula run \"…\", or pipe it in; the screen needs a terminal for input and output")
	}
	return text, nil
}

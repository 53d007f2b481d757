package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine/app"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/keeper"
)

// invocation is one run of the command line.
type invocation struct {
	*Program
	configFile string
	color      string
	verbose    bool
	helpAll    helpAll
	overrides  overrides // settings given as flags
	notes      []string  // surprising effects of the settings; open emits them
	keeper     *keeper.Link
	ran        bool // a command has begun: later errors are not usage errors
}

// Run executes the command line args (without the program's name) and returns the exit code.
func (p *Program) Run(ctx context.Context, args []string) int {
	a := &invocation{Program: p}
	root := a.rootCommand()
	root.SetArgs(valuesOfSwitches(args))
	root.SetIn(p.Terminal.Stdin)
	root.SetOut(p.Terminal.Stdout)
	root.SetErr(p.Terminal.Stderr)
	command, err := root.ExecuteContextC(ctx)
	return report(p.Terminal.Stderr, err, a.ran, command.CommandPath())
}

func (a *invocation) rootCommand() *cobra.Command {
	var o chatFlags
	root := &cobra.Command{
		Use:   "specula [PROMPT | MODEL]",
		Short: "Chat with a language model and watch it speculate",
		Long: `specula is a chat in the terminal that shows speculative decoding while it happens:
a small model drafts a few tokens, the large one verifies them in a single pass.
Without arguments it opens the screen with the small demo pair that is built in.
A prompt, in quotes, is the first message of the chat. The path of a GGUF file, or of a
folder with config.json, is the large model, as with --target.

Exit codes: 0 fine, 1 failed, 2 wrong usage or configuration, 3 model not loadable,
4 no usable device, 130 interrupted.`,
		Example: `  specula
  specula "What is speculative decoding?"
  specula --target Qwen3-8B-Q8_0.gguf --draft Qwen3-0.6B-Q8_0.gguf
  specula run "Why is the sky blue?" --temperature 0`,
		Version:          a.Version,
		Args:             promptModelOrNothing,
		TraverseChildren: true, // settings may stand before the command's name
		SilenceErrors:    true,
		SilenceUsage:     true,
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			if len(args) == 1 && app.IsModel(args[0]) {
				a.overrides.values = append(a.overrides.values, config.Value{Name: "model.target", Text: args[0]})
			} else {
				o.prompt = strings.Join(args, "")
			}
			return a.chat(c.Context(), o)
		}),
	}
	root.SetVersionTemplate("specula {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(a.help)
	root.SetHelpCommand(helpCommand())
	root.PersistentFlags().StringVar(&a.configFile, "config", "", "configuration `FILE`; otherwise SPECULA_CONFIG or the user's own")
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "colours, `WHEN`: auto, always or never")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "say which configuration, models and device are used")
	root.PersistentFlags().VarPF(&a.helpAll, "help-all", "", "help with every setting, by group").NoOptDefVal = "true"
	o.add(root.Flags())
	a.addSettings(root)
	root.AddCommand(a.runCommand(), a.benchCommand(), a.verifyDistCommand(), a.doctorCommand(), a.auditCommand(), a.raceCommand(), a.demoCommand(),
		a.replayCommand(), a.exportCommand(), a.infoCommand(), a.configCommand(), a.makeWeightsCommand(), a.timePassesCommand(), a.evalPairCommand())
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.checkColor() }
	return root
}

// begin wraps work: it first sets ran, which says that a command has begun.
func (a *invocation) begin(work func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		a.ran = true
		return work(c, args)
	}
}

func (a *invocation) checkColor() error {
	switch a.color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("--color cannot be %.64q: allowed is one of auto, always, never", a.color)
}

// settings returns the settings: built-in values, overridden by the file, then by flags. In the file
// and in the flags, a setting may imply others (config.Imply). Effects that the user may not expect are
// stored in a.notes.
func (a *invocation) settings() (config.Config, config.Source, error) {
	source := config.Search(a.configFile, a.Terminal.Getenv, a.Terminal.ConfigHome)
	c, inFile, err := config.Load(source)
	if err != nil {
		return c, source, &coded{ExitUsage, err}
	}
	values, inFlags, err := config.Imply(a.overrides.all())
	if err == nil {
		err = c.SetAll(values...)
	}
	if err != nil {
		return c, source, a.overrides.explain(err)
	}
	if a.notes = nil; inFlags != "" {
		a.notes = []string{inFlags}
	} else if inFile != "" && !a.overrides.given("speculation.gamma") && !a.overrides.given("speculation.gamma_rule") {
		a.notes = []string{inFile}
	}
	if source.Missed != "" {
		a.notes = append(a.notes, source.Missed)
	}
	if a.verbose {
		a.say("configuration: %s", source)
	}
	return c, source, nil
}

// toldSettings is settings for a command that shows no events: notes go to stderr.
func (a *invocation) toldSettings() (config.Config, error) {
	c, _, err := a.settings()
	for _, note := range a.notes {
		a.say("%s", note)
	}
	return c, err
}

// open calls Open, and then emits the notes of settings.
func (a *invocation) open(ctx context.Context, c config.Config, emit func(event.Event)) (ui.Engine, error) {
	e, err := a.Open(ctx, c, emit)
	if err == nil {
		for _, note := range a.notes {
			emit(event.Notice{Level: "info", Text: note})
		}
	}
	return e, err
}

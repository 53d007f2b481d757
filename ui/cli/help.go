package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"specula/engine/config"
)

const (
	helpWidth   = 96 // columns to which help is wrapped
	fewSettings = 10 // a command with at most so many settings shows all of them
)

// helpAll is the flag --help-all: help with every setting.
type helpAll struct{ asked bool }

// Set asks for help at once, as --help does.
func (f *helpAll) Set(string) error {
	f.asked = true
	return pflag.ErrHelp
}

func (f *helpAll) String() string { return "false" }
func (f *helpAll) Type() string   { return "bool" }

// helpCommand prints the help of the command that its arguments name. It refuses an unknown name, which
// Cobra's own help command would ignore.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err == nil {
				err = noSuchCommand(found, rest)
			}
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			found.InitDefaultVersionFlag()
			return found.Help()
		},
	}
}

// help prints the help of a command. With --help-all, or if the command has at most fewSettings settings,
// it shows all of them; otherwise only settings that have an example.
func (a *invocation) help(c *cobra.Command, _ []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", cmp.Or(c.Long, c.Short), c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [flags]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(&b, "\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				writeEntry(&b, sub.Name(), sub.Short, 14)
			}
		}
	}
	settings, others := flagsOf(c)
	fmt.Fprintf(&b, "\nFlags:\n%s\n", wrapped(others))
	switch {
	case a.helpAll.asked || len(settings) <= fewSettings:
		writeGroups(&b, settings)
	default:
		writeExamples(&b, settings)
		fmt.Fprintf(&b, "\n'%s --help-all' shows all %d settings.\n", c.CommandPath(), len(settings))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "'%s COMMAND --help' says more about a command.\n", c.CommandPath())
	}
	_, _ = io.WriteString(c.OutOrStdout(), b.String()) // help has no way to report an error
}

// writeExamples writes the settings that have an example.
func writeExamples(b *strings.Builder, settings map[string]*pflag.Flag) {
	fmt.Fprint(b, "\nSettings to begin with, each by an example:\n")
	for _, g := range config.Groups() {
		for _, s := range g.Settings() {
			if settings[s.Flag] != nil && s.Example != "" {
				writeEntry(b, "--"+s.Flag+" "+s.Example, s.Doc, 30)
			}
		}
	}
}

// writeGroups writes all settings by group.
func writeGroups(b *strings.Builder, settings map[string]*pflag.Flag) {
	for _, g := range config.Groups() {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for _, s := range g.Settings() {
			if f := settings[s.Flag]; f != nil {
				flags.AddFlag(f)
			}
		}
		if flags.HasFlags() {
			fmt.Fprintf(b, "\nSettings: %s\n%s\n", g.Name, wrapped(flags))
		}
	}
}

func wrapped(flags *pflag.FlagSet) string {
	return strings.TrimRight(flags.FlagUsagesWrapped(helpWidth), "\n")
}

// flagsOf returns the flags of a command that are settings, by flag name, and the other flags.
func flagsOf(c *cobra.Command) (settings map[string]*pflag.Flag, others *pflag.FlagSet) {
	settings, others = map[string]*pflag.Flag{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	add := func(f *pflag.Flag) {
		if _, ok := f.Value.(*settingFlag); ok {
			settings[f.Name] = f
		} else {
			others.AddFlag(f)
		}
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return settings, others
}

// writeEntry writes a name and its text, wrapped and indented by indent cells.
func writeEntry(b *strings.Builder, name, text string, indent int) {
	lines := strings.Split(ansi.Wordwrap(text, helpWidth-indent-2, ""), "\n")
	fmt.Fprintf(b, "  %-*s%s\n", indent, name, lines[0])
	for _, line := range lines[1:] {
		fmt.Fprintf(b, "  %*s%s\n", indent, "", line)
	}
}

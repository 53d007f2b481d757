package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine/config"
	"specula/ui/sanitize"
)

func (a *invocation) configCommand() *cobra.Command {
	var printDefault bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print which configuration is used and every value in force",
		Long: `config prints the file in use and every setting with its value; what differs from the
default is marked. The output is a valid configuration file itself.`,
		Args: noSuchCommand,
		RunE: a.begin(func(c *cobra.Command, _ []string) error {
			if printDefault {
				_, err := a.Terminal.Stdout.Write(a.DefaultConfig)
				return err
			}
			return a.printConfig()
		}),
	}
	c.Flags().BoolVar(&printDefault, "print-default", false, "print the commented defaults")
	a.addSettings(c)
	c.AddCommand(&cobra.Command{
		Use:   "check [FILE]",
		Short: "Read a configuration file and say what is wrong with it",
		Args:  arguments(0, 1),
		RunE: a.begin(func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.configFile = args[0]
			}
			_, source, err := a.settings()
			if err != nil {
				return err
			}
			said := append([]string{source.String() + ": no mistakes"}, a.notes...)
			_, err = fmt.Fprintln(a.Terminal.Stdout, sanitize.Text(strings.Join(said, "\n")))
			return err
		}),
	})
	return c
}

func (a *invocation) printConfig() error {
	c, source, err := a.settings()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# from: %s\n", sanitize.Line(source.String()))
	for _, note := range a.notes {
		fmt.Fprintf(&b, "# %s\n", sanitize.Line(note))
	}
	section := ""
	for _, s := range config.Settings() {
		if s.Section() != section {
			section = s.Section()
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		value, err := c.Get(s.Name)
		if err != nil {
			return err
		}
		off, mark := "", ""
		if value != s.Default {
			mark = "  # default: " + inTOML(s, s.Default)
		}
		if s.Name == "speculation.gamma" && c.Speculation.Rule == "cost-aware" {
			off, mark = "#", "  # named beside the rule cost-aware, it would be the longest draft"
		}
		fmt.Fprintf(&b, "%s%s = %s%s\n", off, s.Key(), escapeJSON(inTOML(s, value)), mark)
	}
	_, err = io.WriteString(a.Terminal.Stdout, b.String())
	return err
}

// inTOML writes a value in the syntax of config.toml. A JSON string is a TOML string too.
func inTOML(s config.Setting, value string) string {
	if s.Kind != config.Text && s.Kind != config.Choice {
		return value
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return value // cannot happen: a string always encodes
	}
	return string(quoted)
}

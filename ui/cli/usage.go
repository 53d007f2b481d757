package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"specula/engine/app"
	"specula/engine/config"
)

// The checks of a command's arguments and flags, with their errors.

// promptModelOrNothing accepts zero arguments or one, which must be the path of a model or a prompt of
// several words. Any other single word is refused: it is more likely a mistyped command.
func promptModelOrNothing(c *cobra.Command, args []string) error {
	if len(args) == 1 && app.IsModel(args[0]) {
		return nil
	}
	if len(args) == 1 && strings.ContainsFunc(strings.TrimSpace(args[0]), unicode.IsSpace) {
		return nil
	}
	return noSuchCommand(c, args)
}

// noSuchCommand is for commands that take no arguments: it returns an error if there are any. The
// error names the most similar command, if one is similar.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if near := config.Nearest(args[0], names); near != "" {
		return usagef("there is no command %.64q; did you mean %s?", args[0], near)
	}
	if c.HasParent() {
		return usagef("%s takes no argument, got %.64q", c.CommandPath(), args[0])
	}
	if len(args) > 1 {
		return usagef("there is no command %.64q; a prompt of several words needs quotes: specula \"…\"", args[0])
	}
	return usagef("there is no command %.64q; to send it as a prompt: specula run %[1]q", args[0])
}

// arguments accepts from least to most arguments. Its error shows the usage of the command.
func arguments(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		allowed := fmt.Sprintf("are %d to %d", least, most)
		if least == most {
			allowed = fmt.Sprintf("is %d", least)
		}
		return usagef("the number of arguments is wrong, got %d, allowed %s: %s", len(args), allowed, c.UseLine())
	}
}

// flagError completes an error about a flag. It says which values the flag can have or, for an
// unknown flag, which name is most similar.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.Is(err, pflag.ErrHelp): // from helpAll.Set
		return err
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s cannot be %.64q: allowed is %s", f.Name, invalid.GetValue(), kindOf(f))
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if s, known := config.Lookup(name); known && s.Flag == name {
			err = fmt.Errorf("%s does not take the flag --%s", c.CommandPath(), name)
			break
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := config.Nearest(name, names); near != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return &coded{ExitUsage, err}
}

// kindOf describes the values of a flag that is not a setting.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "an integer"
	case "float64":
		return "a number"
	case "float64Slice":
		return "numbers with commas between them"
	}
	return f.Value.Type()
}

// valuesOfSwitches joins the two arguments "--speculate off" to "--speculate=off", and does the same for
// every setting that is on or off. Otherwise Cobra would take "off" for an argument of the command.
// Arguments after "--" stay unchanged.
func valuesOfSwitches(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, isFlag := strings.CutPrefix(args[i], "--")
		s, _ := config.Lookup(name)
		isSwitch := isFlag && s.Flag == name && s.Kind == config.Bool
		if isSwitch && i+1 < len(args) && slices.Contains(config.Switches(), strings.ToLower(args[i+1])) {
			out = append(out, args[i]+"="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

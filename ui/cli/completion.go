package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine/config"
)

// complete sets the shell completion of a flag of c. The flag must exist.
func complete(c *cobra.Command, flag string, how cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, how); err != nil {
		panic("cli: " + err.Error())
	}
}

// completeList completes a list of names separated by commas, each name once.
func completeList(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		done, begun := lastPart(typed, ",")
		given := strings.Split(done, ",")
		var list []cobra.Completion
		for _, name := range names {
			if strings.HasPrefix(name, begun) && !slices.Contains(given, name) {
				list = append(list, done+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// lastPart splits typed after its last separator: done ends with it, begun is the rest.
func lastPart(typed, separators string) (done, begun string) {
	i := strings.LastIndexAny(typed, separators) + 1
	return typed[:i], typed[i:]
}

// worthRacing lists the sections whose settings are offered for a lane, that is, for one of the two
// replies that the command race compares. The user can also type settings of other sections.
var worthRacing = []string{"speculation", "sampling", "guidance"}

// completeLane completes the settings of a lane: names, and values of settings with a choice.
func completeLane(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	done, begun := lastPart(typed, ", ")
	if name, value, named := strings.Cut(begun, "="); named {
		setting, _ := config.Lookup(name)
		choices := setting.Choices
		if setting.Kind == config.Bool {
			choices = []string{"on", "off"}
		}
		var list []cobra.Completion
		for _, choice := range choices {
			if strings.HasPrefix(choice, value) {
				list = append(list, done+name+"="+choice)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	offer := func(text, about string) {
		if strings.HasPrefix(text, begun) {
			list = append(list, cobra.CompletionWithDesc(done+text, about))
		}
	}
	if done == "" {
		offer("plain", "without speculation")
		offer("now", "the settings of the chat")
	}
	for _, s := range config.Settings() {
		if slices.Contains(worthRacing, s.Section()) && s.Kind != config.List {
			offer(s.Flag+"=", s.Doc)
		}
	}
	return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp // a value follows
}

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"specula/engine/config"
)

// overrides collects the settings given as flags, in the order in which they were given.
type overrides struct {
	values []config.Value
	lists  map[string][]string // values of settings whose flag may be repeated, by full name
}

// all returns the settings that were given.
func (o *overrides) all() []config.Value {
	values := slices.Clone(o.values)
	for _, name := range slices.Sorted(maps.Keys(o.lists)) {
		text, _ := json.Marshal(o.lists[name]) // a list of texts always encodes
		values = append(values, config.Value{Name: name, Text: string(text)})
	}
	return values
}

// addSettings gives a command a flag for every setting, or for those of some sections of config.toml.
func (a *invocation) addSettings(c *cobra.Command, sections ...string) {
	for _, s := range config.Settings() {
		if len(sections) > 0 && !slices.Contains(sections, s.Section()) {
			continue
		}
		about := s.Doc
		if s.Kind == config.Choice {
			about += " (" + s.Allowed() + ")"
		}
		flag := c.Flags().VarPF(&settingFlag{setting: s, into: &a.overrides}, s.Flag, "", about)
		if s.Kind == config.Bool {
			flag.NoOptDefVal = "true"
		}
		if len(s.Choices) > 0 {
			complete(c, s.Flag, cobra.FixedCompletions(s.Choices, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// settingFlag is the flag of a setting. Values are checked later, together with the file.
type settingFlag struct {
	setting config.Setting
	into    *overrides
	text    string
}

func (f *settingFlag) Set(text string) error {
	f.text = text
	if f.setting.Kind != config.List {
		f.into.values = append(f.into.values, config.Value{Name: f.setting.Name, Text: text})
		return nil
	}
	if f.into.lists == nil {
		f.into.lists = map[string][]string{}
	}
	list := append(f.into.lists[f.setting.Name], text)
	if text == "" { // an empty value clears the list of a file or of earlier flags
		list = []string{}
	}
	f.into.lists[f.setting.Name] = list
	return nil
}

// String returns the value. Before Set it is the default, which help shows; for a list it is "".
func (f *settingFlag) String() string {
	if f.text == "" && f.setting.Kind != config.List {
		return f.setting.Default
	}
	return f.text
}

// Type returns the placeholder for help texts.
func (f *settingFlag) Type() string {
	switch f.setting.Kind {
	case config.Bool:
		return "bool"
	case config.Int, config.Float:
		return "NUMBER"
	case config.Choice:
		return "NAME"
	}
	return "TEXT"
}

func (o *overrides) given(name string) bool {
	return o.lists[name] != nil || slices.ContainsFunc(o.values, func(v config.Value) bool { return v.Name == name })
}

// explain adds exit code 2 to an error about a setting. If a flag gave the wrong value, it also adds the
// name of the flag.
func (o *overrides) explain(err error) error {
	var value *config.ValueError
	if errors.As(err, &value) {
		if s, ok := config.Lookup(value.Setting); ok && o.given(s.Name) {
			err = fmt.Errorf("--%s: %w", s.Flag, err)
		}
	}
	return &coded{ExitUsage, err}
}

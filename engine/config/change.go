package config

import (
	"fmt"
	"slices"
	"strings"
)

// Default returns the built-in values.
func Default() Config {
	var c Config
	for _, s := range table {
		v, err := s.parse(s.Default)
		if err == nil {
			err = s.assign(&c, v)
		}
		if err != nil {
			panic("config: the default of a setting breaks its own rules: " + err.Error())
		}
	}
	return c
}

// Clone returns a copy that shares no slice with c.
func (c Config) Clone() Config {
	for _, list := range []*[]string{
		&c.Sampling.Stop, &c.Penalties.DryBreakers, &c.Tokens.Bias, &c.Tokens.Banned, &c.Tokens.Allowed, &c.Tokens.BadWords,
		&c.Constraint.Choices, &c.Speculation.SkipLayers,
	} {
		*list = slices.Clone(*list)
	}
	return c
}

// Value is a setting's name (full name, flag or slash command) and its value as typed.
type Value struct{ Name, Text string }

// Set changes one setting by its full name, flag or slash command, as SetAll does. The error is an
// *UnknownError or a *ValueError; c is then unchanged.
func (c *Config) Set(name, value string) error { return c.SetAll(Value{name, value}) }

// SetAll changes several settings at once, in any order: it checks conditions between settings after all
// are set. It may change one other setting: if gamma_max is given without γ, and γ is larger, it lowers γ to
// gamma_max. Values that a user gave together should come from Imply. After an error c is unchanged.
func (c *Config) SetAll(values ...Value) error {
	next := c.Clone()
	if err := next.assignAll(values); err != nil {
		return err
	}
	named := map[string]bool{}
	for _, v := range values {
		s, _ := Lookup(v.Name) // assignAll has found it
		named[s.Name] = true
	}
	next.lowerGamma(named)
	if err := next.validate(); err != nil {
		return err
	}
	*c = next
	return nil
}

// assignAll sets the values, and checks each one alone, without conditions between settings.
func (c *Config) assignAll(values []Value) error {
	for _, value := range values {
		s, ok := Lookup(value.Name)
		if !ok {
			return unknown(value.Name)
		}
		v, err := s.parse(value.Text)
		if err != nil {
			return err
		}
		if err := s.assign(c, v); err != nil {
			return err
		}
	}
	return nil
}

// Get returns a setting's value as text, as Set takes it. The error is an *UnknownError.
func (c *Config) Get(name string) (string, error) {
	s, ok := Lookup(name)
	if !ok {
		return "", unknown(name)
	}
	return s.format(c), nil
}

// Recipe returns the settings that a reply is written with: each setting that differs from its default,
// by full name, in the form that Set takes. It leaves out
//
// - settings that concern only the screen,
// - speculation.drafts, because what rounds draft is known only after the reply,
// - γ under the rule cost-aware, which ignores it: naming γ would change the rule to fixed.
func (c *Config) Recipe() map[string]string {
	recipe := map[string]string{}
	for _, s := range table {
		switch {
		case s.Section() == "ui", s.Name == "speculation.drafts", s.Name == "speculation.gamma" && c.Speculation.Rule == "cost-aware":
			continue
		}
		if text := s.format(c); text != s.Default {
			recipe[s.Name] = text
		}
	}
	return recipe
}

// validate checks the conditions between several settings.
func (c *Config) validate() error {
	s := c.Speculation
	switch {
	case s.Gamma > s.GammaMax:
		return &ValueError{Setting: "speculation.gamma", Got: fmt.Sprint(s.Gamma), Allowed: fmt.Sprintf("at most speculation.gamma_max, which is %d", s.GammaMax)}
	case s.WindowLow > s.WindowHigh:
		return &ValueError{Setting: "speculation.window_low", Got: number(s.WindowLow), Allowed: "at most speculation.window_high, which is " + number(s.WindowHigh)}
	case s.NgramMin > s.NgramMax:
		return &ValueError{Setting: "speculation.ngram_min", Got: fmt.Sprint(s.NgramMin), Allowed: fmt.Sprintf("at most speculation.ngram_max, which is %d", s.NgramMax)}
	}
	if first, second := c.Constraint.firstTwo(); first != "" {
		value, _ := c.Get(second) // cannot fail: second is the name of a setting
		return &ValueError{Setting: second, Got: describe(value), Why: fmt.Errorf(
			"a reply can have one form, and %s gives it another: set that to %s first", first, offValue(first))}
	}
	return nil
}

// UnknownError says that no setting has this name.
type UnknownError struct {
	Name    string
	Nearest string // the most similar name; empty if none is similar
}

func (e *UnknownError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("there is no setting %.64q; 'specula config' prints all", e.Name)
	}
	return fmt.Sprintf("there is no setting %.64q; did you mean %s?", e.Name, e.Nearest)
}

// unknown returns the error for a name that no setting has. It suggests the most similar name of
// the same form: for a name with a dot a full name, otherwise a flag, the last part of a full name, or
// a slash command.
func unknown(name string) error {
	var names []string
	for _, s := range table {
		if strings.Contains(name, ".") {
			names = append(names, s.Name)
			continue
		}
		names = append(names, s.Flag, s.Key())
		if s.Slash != "" {
			names = append(names, s.Slash)
		}
	}
	return &UnknownError{Name: name, Nearest: Nearest(name, names)}
}

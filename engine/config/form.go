package config

import (
	"context"
	"strings"

	"specula/engine/constrain"
)

// A constraint is compiled as soon as it is given, so that what is wrong with it is said before a model is loaded.

// Compile returns the constraint that is set, reading files that it names; nil for none.
func (c Constraint) Compile(ctx context.Context) (*constrain.Constraint, error) {
	switch {
	case c.Schema != "":
		return compileText(ctx, c.Schema, constrain.Schema)
	case c.Grammar != "":
		return compileText(ctx, c.Grammar, constrain.Grammar)
	case c.Regex != "":
		return constrain.Regex(ctx, c.Regex)
	case len(c.Choices) > 0:
		return constrain.Choices(ctx, c.Choices)
	}
	return nil, nil
}

func compileText(
	ctx context.Context, value string, compile func(context.Context, string) (*constrain.Constraint, error),
) (*constrain.Constraint, error) {
	text, err := constrain.ReadText(value)
	if err != nil {
		return nil, err
	}
	return compile(ctx, text)
}

// Read returns c with the contents of the files that it names, so that two can be compared.
func (c Constraint) Read() (Constraint, error) {
	for _, text := range []*string{&c.Schema, &c.Grammar} {
		read, err := constrain.ReadText(*text)
		if err != nil {
			return c, err
		}
		*text = read
	}
	return c, nil
}

func checkSchema(v string) error  { return Constraint{Schema: v}.check() }
func checkRegex(v string) error   { return Constraint{Regex: v}.check() }
func checkGrammar(v string) error { return Constraint{Grammar: v}.check() }

// check compiles what is set. It needs no context: compiling has a budget of its own.
func (c Constraint) check() error {
	_, err := c.Compile(context.Background())
	return err
}

// several names the first two constraints that are set, if there are two.
func (c Constraint) several() (first, second string) {
	var set []string
	for _, s := range table {
		if s.Section() == "constraint" {
			if value := s.format(&Config{Constraint: c}); value != "" && value != "[]" {
				set = append(set, s.Name)
			}
		}
	}
	if len(set) < 2 {
		return "", ""
	}
	return set[0], set[1]
}

// cleared is how a setting is given to have no effect.
func cleared(name string) string {
	if s, _ := Lookup(name); s.Kind == List {
		return "[]"
	}
	return strings.Repeat(`"`, 2)
}

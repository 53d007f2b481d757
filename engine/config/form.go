package config

import (
	"context"
	"fmt"
	"strings"

	"specula/engine/constrain"
)

// A schema, a regular expression or a grammar is compiled when it is set, so that mistakes are reported at
// once, and at the start of the program before a model is loaded.

// Compile compiles the constraint that is set; it returns nil if none is. If a schema or grammar names a
// file, Compile reads the file.
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

// Read returns c with the contents of files instead of their names, so that two constraints can be
// compared. After an error, names of files may be left in the result.
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

func checkSchema(v string) error  { return orFile(v, Constraint{Schema: v}.check()) }
func checkRegex(v string) error   { return Constraint{Regex: v}.check() }
func checkGrammar(v string) error { return orFile(v, Constraint{Grammar: v}.check()) }

// orFile adds to an error a hint how to name a file, if the value looks like the name of a file.
func orFile(v string, err error) error {
	if err == nil || strings.HasPrefix(v, "@") || strings.ContainsAny(v, "{}[]=\n") || !strings.Contains(v, ".") {
		return err
	}
	return fmt.Errorf("%w; to read it from a file, write @%.64s", err, v)
}

// check compiles the constraint that is set. It needs no context that ends, because compiling has a limit
// of steps.
func (c Constraint) check() error {
	_, err := c.Compile(context.Background())
	return err
}

// firstTwo returns the names of the first two constraints that are set; "" and "" if fewer are set.
func (c Constraint) firstTwo() (first, second string) {
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

// offValue returns the value, as it is typed, that switches a setting of the constraint off.
func offValue(name string) string {
	if s, _ := Lookup(name); s.Kind == List {
		return "[]"
	}
	return strings.Repeat(`"`, 2)
}

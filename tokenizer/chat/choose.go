package chat

import (
	"fmt"
	"slices"
	"strings"
)

// Choose picks a template. The error tells what to do when Prefer names none or asks for a template that cannot be used.
func Choose(o Options) (*Template, error) {
	for _, f := range families {
		if f.key == o.Prefer {
			return builtIn(f, o, "as configured"), nil
		}
	}
	if o.Prefer != "" && !slices.Contains(Choices(), o.Prefer) {
		return nil, fmt.Errorf("chat: template %.64q is unknown: choose one of %s", o.Prefer, strings.Join(Choices(), ", "))
	}
	return builtIn(families[0], o, "a guess"), nil
}

func builtIn(f family, o Options, why string) *Template {
	return &Template{name: "built-in " + f.title + ": " + why, write: f.write(o.BOS, o.EOS)}
}

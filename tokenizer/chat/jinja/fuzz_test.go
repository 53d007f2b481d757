package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// No source crashes the parser or the evaluator, or exceeds the limits. A refusal is short, valid
// text that says where, except that of a template that is too large as a whole.
func FuzzParse(f *testing.F) {
	raw, err := os.ReadFile("testdata/semantics.json")
	if err != nil {
		f.Fatal(err)
	}
	var file struct{ Cases []struct{ Template string } }
	if err := json.Unmarshal(raw, &file); err != nil {
		f.Fatal(err)
	}
	for _, c := range file.Cases {
		f.Add(c.Template)
	}
	for _, c := range hostile {
		if len(c.source) < 1000 {
			f.Add(c.source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		d := &Dict{}
		d.Set(Literal("a"), Data("x"))
		got, err := render(source, map[string]Value{
			"s": Data("Hello, World"), "n": 7, "f": 2.5, "t": true, "no": nil, "d": d, "m": NewList(d, d), "l": NewList(3, 1, 2),
		})
		if len(got.s) > maxText {
			t.Errorf("%d bytes of text", len(got.s))
		}
		if err == nil {
			return
		}
		message := err.Error()
		if len(message) > 1000 || !strings.HasPrefix(message, "line ") && !strings.HasPrefix(message, "the template has ") {
			t.Errorf("refused by %q", message)
		}
		if utf8.ValidString(source) && !utf8.ValidString(message) {
			t.Errorf("refused by %q, which is not valid text", message)
		}
	})
}

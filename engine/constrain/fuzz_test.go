package constrain

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestGrammarErrorsNameLineAndRule(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "line 1 of the grammar: it is empty",
		"# only a comment\n":               "it is empty",
		"root ::= a\n":                     `uses the rule "a"`,
		"a ::= \"x\"":                      "has no rule root",
		"root ::= \"x\"\n\nroot ::= \"y\"": `line 3 of the grammar: the rule "root" is defined twice, first on line 1`,
		"root ::= \"x":                     `line 1 of the grammar: in the rule "root": the line ends inside of a text`,
		"root = \"x\"":                     `after the name "root" there must be ::=`,
		"root ::= \"x\" )":                 `cannot read ")"`,
		"root ::= (\"x\"":                  "a ) is missing, got the end",
		"root ::= [z-a]":                   "upside down",
		"root ::= \"x\"{3,2}":              "cannot read {3,2}",
		"root ::= \"x\"{20000}":            "at most 10000 can be",
		"root ::= \"\\q\"":                 `\q is not known`,
		"root ::= root \"x\"":              `the rule "root" can begin with itself (left recursion)`,
		"root ::= a? b\na ::= \"x\"\nb ::= \"\" root":             `can begin with itself`,
		"root ::= \"x\" root":                                     "no reply of finite length",
		strings.Repeat("root ::= (", 1) + strings.Repeat("(", 80): "nest more than 64 deep",
		"root ::= \"x\"\n+":                                       `line 2 of the grammar: a rule must begin with its name, got "+"`,
	} {
		if _, err := Grammar(t.Context(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRegexErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		`a(`: "missing closing )", `a\bc`: "word boundaries nowhere", `a^b`: "^ may stand at the start", `(?:a$)b`: "$ at the end only",
		`[^\x00-\x{10FFFF}]`: "no reply of finite length",
	} {
		if _, err := Regex(t.Context(), pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
}

// tryOut writes a few texts under a constraint. No text that a parser accepts may lead to a panic,
// an endless loop or a reply without its form.
func tryOut(t *testing.T, c *Constraint, valid func(text string) bool) {
	a := newAutomaton(t.Context(), c, everyByte(), false)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		s := a.start
		for range 30 {
			if next := a.step(s, byte(rng.IntN(256))); next != dead {
				s = next
			}
		}
		if a.work.err != nil || a.states[a.start].bytes > 2000 {
			return // a limit was reached, or it would take long
		}
		text, ok := walk(t, a, rng, 30, `{}[]",:01`)
		if !ok {
			return
		}
		if valid != nil && !valid(text) {
			t.Errorf("%q was written", text)
		}
	}
}

func FuzzSchema(f *testing.F) {
	for _, s := range schemas {
		f.Add(s.schema)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Schema(t.Context(), text); err == nil {
			tryOut(t, c, func(text string) bool { return json.Valid([]byte(text)) })
		}
	})
}

func FuzzGrammar(f *testing.F) {
	f.Add(`root ::= "a" ( [b-z^] | . )* rest{2,} # end
rest ::= "\x41\u00e9" | "(" root? ")"`)
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Grammar(t.Context(), text); err == nil {
			tryOut(t, c, nil)
		}
	})
}

func FuzzRegex(f *testing.F) {
	for _, pattern := range patterns {
		f.Add(pattern)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Regex(t.Context(), text); err == nil {
			tryOut(t, c, nil)
		}
	})
}

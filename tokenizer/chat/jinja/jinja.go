// Package jinja runs chat templates, which are Jinja source that nobody has checked.
//
// [Parse] reads a [Template], [Template.Render] runs it on values ([Value]) and gives a [Text].
// Read the files in this order: lexer.go cuts the source into tokens, parser.go and expressions.go build
// a tree, statements.go and eval.go run the tree.
//
// There are two reasons not to use a library. First, a template is code by a stranger, so every
// step, byte and level of nesting is counted while it runs (limits.go). A macro that calls itself,
// a text that doubles in a loop, or a letter repeated 10 million times must end in an error, and
// must not end the process. Second, each byte of the output keeps its origin, template or data,
// through every filter and method.
//
// The second reason serves an invariant: data never becomes a control token. Only text has an origin. Two
// things count as the template's although they depend on data: a printed value that is not text, such as
// a number, and the template's own text in a branch that it takes because of data.
//
// What runs is what Hugging Face's transformers runs: Jinja in an immutable sandbox with
// trim_blocks, lstrip_blocks, loop controls, raise_exception, strftime_now, tojson and the
// generation block. There is no loader: include, import and extends are refused, and so are the
// other statements, filters and methods that no published chat template needs.
package jinja

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Template is a template that has passed all checks that can be done without running it. Several
// goroutines may render it at once.
type Template struct {
	source string
	body   []statement
}

// Parse reads a template. The error says in which line and column what is wrong or not allowed.
func Parse(source string) (*Template, error) {
	if len(source) > maxSourceBytes {
		return nil, fmt.Errorf("the template has %d bytes; at most %d are allowed", len(source), maxSourceBytes)
	}
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	source = strings.TrimSuffix(source, "\n")
	l := lexer{source: source}
	if l.run(); l.err != nil {
		return nil, l.err
	}
	p := parser{source: source, tokens: l.tokens}
	body := p.statements()
	return &Template{source: source, body: body}, p.err
}

// Render runs the template on variables. now is the clock for strftime_now, and for the limit
// maxDuration. The error is the message of raise_exception, or says what the template did wrong or
// which limit it exceeded.
func (t *Template) Render(variables map[string]Value, now func() time.Time) (Text, error) {
	r := newRun(t.source, variables, now)
	r.runAll(t.body)
	if r.err != nil {
		return Text{}, r.err
	}
	return r.out.text(), nil
}

// locate puts the line and the column of an offset before an error.
func locate(source string, at int, err error) error {
	before := source[:min(at, len(source))]
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("line %d, column %d: %w", strings.Count(before, "\n")+1, column, err)
}

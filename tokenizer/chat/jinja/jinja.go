// Package jinja runs chat templates, which are Jinja source that nobody has checked.
//
// [Parse] reads a [Template], [Template.Render] runs it on values ([Value]) and gives a [Text].
// gonja reads the grammar; this package runs the tree itself, for two reasons. First, a template
// is code by a stranger, so every step, byte and level of nesting is counted while it runs
// (limits.go). A macro that calls itself, a text that doubles in a loop, or a letter repeated 10
// million times must end in an error, not in the end of the process. Second, each byte of the
// output keeps its origin, template or data, through every filter and method.
//
// That is the invariant: data never passes for a control token. Only text has an origin. A number
// read out of data becomes the template's when it is printed, and so does what a template writes
// after it compared data with its own words.
//
// What runs is what Hugging Face's renderer runs: Jinja in an immutable sandbox with trim_blocks,
// lstrip_blocks, loop controls, raise_exception, strftime_now, tojson and the generation block.
// There is no loader: include, import and extends are refused, and so are the other statements,
// filters and methods that no published chat template needs.
//
// These constructs are also refused, each with a reason: an if-else inside parentheses or
// arguments, recursive loops, blocks and raw sections, string formatting, neighbouring string
// constants that join, and a < b < c.
package jinja

import (
	"errors"
	"fmt"
	"time"

	"github.com/nikolalohinski/gonja/v2/nodes"
)

// Template is a template that has passed all checks that can be done without running it. Several
// goroutines may render it at once.
type Template struct {
	root *nodes.Template
	// literals has the value of each string constant by its token, because gonja decodes some of
	// them wrongly.
	literals literals
}

// Parse reads a template. The error says what is wrong or not allowed, and in which line.
func Parse(source string) (t *Template, err error) {
	defer fence(&err, "read")
	stream, literals, err := lex(source)
	if err != nil {
		return nil, err
	}
	root, err := parse(stream)
	if err != nil {
		return nil, err
	}
	return &Template{root: root, literals: literals}, nil
}

// Render runs the template on variables. now is the clock that strftime_now reads, and that ends a
// rendering which takes too long. The error is the message of raise_exception, or says what the
// template did wrong or which limit it exceeded.
func (t *Template) Render(variables map[string]Value, now func() time.Time) (text Text, err error) {
	defer fence(&err, "run")
	r := newRun(t, variables, now)
	if err := r.statements(t.root.Nodes); err != nil {
		if errors.Is(err, errBreak) || errors.Is(err, errContinue) {
			return Text{}, fmt.Errorf("the template has a break or continue outside a loop")
		}
		return Text{}, err
	}
	return r.out.text(), nil
}

// fence turns a panic into an error: gonja's parser panics on some inputs.
func fence(err *error, doing string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the template cannot be %s: %.200s", doing, fmt.Sprint(p))
	}
}

// Package jinja runs the part of the Jinja language that chat templates are written in, for templates that nobody
// has checked.
//
// The grammar is read by gonja. The tree is run here, for two reasons. A template is code by a stranger, and every
// step, byte and level of nesting has to be counted while it runs: a macro that calls itself, a text that doubles in
// a loop or the 10-million-fold repetition of a letter must end in an error, not in the end of the process. And each
// byte of the output has to carry its origin, template or data, through every filter and method, so that data can
// never pass for a control token; see [Text].
//
// What runs is what Hugging Face's renderer runs: Jinja in an immutable sandbox with trim_blocks, lstrip_blocks, loop
// controls, raise_exception, strftime_now, tojson and the generation block. There is no loader: include, import and
// extends are refused, as are the other statements, filters and methods that no published chat template needs.
// Only text has an origin: a number read out of data is the template's once it is printed, and so is what a template
// writes after comparing data with its own words.
//
// Gaps, each refused in words: an if-else inside parentheses or arguments, recursive loops, blocks and raw sections,
// string formatting, neighbouring string constants that join, and a < b < c.
package jinja

import (
	"errors"
	"fmt"
	"time"

	"github.com/nikolalohinski/gonja/v2/nodes"
)

// Template is a template that has passed all checks that do not need running it. It may be rendered by several
// goroutines at once.
type Template struct {
	root *nodes.Template
	// literals holds the decoded string constants by their token, because gonja decodes some of them wrongly.
	literals literals
}

// Parse reads a template. The error says in words what is wrong or not allowed, and in which line.
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

// Render runs the template on variables, see [Value] for what they can be. The clock is what strftime_now reads and
// what ends a rendering that takes too long. The error is the message of raise_exception, or says what the template
// did wrong or which limit it ran into.
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

// fence turns a panic, which gonja's parser can be brought to, into an error.
func fence(err *error, doing string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the template cannot be %s: %.200s", doing, fmt.Sprint(p))
	}
}

// Package constrain gives a reply a form: JSON of a schema, a regular expression, one of several texts, a grammar.
//
// Whatever describes the form is compiled to one thing, a context-free grammar whose terminals are sets of bytes
// ([Schema], [Regex], [Choices], [Grammar]). Bytes are the alphabet because tokens are byte strings that may end inside a
// UTF-8 sequence.
//
// The grammar is run as a set of stacks. A stack is what is still expected, topmost first; reading a byte pops a terminal that
// has it and opens what lies below until every top is a terminal again. Stacks are shared lists, and equal ones are the same
// one; a set of stacks is a state, equal sets are the same state, and where a byte leads from a state is worked out once. So
// a regular part of a grammar becomes the automaton that a textbook would have built for it, as far as replies need it, nested
// parts go as deep as they must, and counted repetitions cost no copies.
//
// A [Shaper] forbids every token whose bytes lead nowhere. Which those are is found by walking the vocabulary, as a tree of
// bytes, beside the automaton; the answer is kept for each state.
//
// # A reply that always closes
//
// A constraint is worth little if a reply stops at its token limit in the middle of an object. Each state therefore has a
// closing: of the shortest texts that finish the reply, the first in a fixed order of bytes, spelled in as few tokens as the
// vocabulary allows. The first token of a closing leads to a state whose closing is the rest of it, one token shorter. A token
// is forbidden when the closing behind it no longer fits, so from a state that can be closed in time there is always a token
// to another such state, and a reply whose limit is no shorter than [Shaper.Shortest] ends with the form complete.
//
// # A budget
//
// A short text can describe a form that is dear to work out: counts of counts, many ways to read the same bytes, references
// that double. Compiling a form and every token that is written under it therefore have a budget of steps and bytes, and look
// at their context while they work. What goes beyond its budget is an error that says so and ends the reply.
package constrain

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Constraint is the form of a reply, compiled. It does not change and may be shared.
type Constraint struct {
	name string
	g    *grammar
	root expr
}

// Name says in words what it is: "JSON schema", "regular expression", "list of choices", "grammar".
func (c *Constraint) Name() string { return c.name }

// MaxBytes bounds the text of a constraint.
const MaxBytes = 256 << 10

// MaxRepeat bounds what a count may ask for at least; a larger upper bound is lowered to it.
const MaxRepeat = 10_000

// newConstraint checks a grammar that has been built. err is what went wrong while it was.
func newConstraint(name string, g *grammar, root expr, err error) (*Constraint, error) {
	if err == nil {
		err = g.checkLeftRecursion()
	}
	if err == nil && g.lengths(everyByte())[root] >= maxClosing {
		err = errors.New("no reply of finite length could fit it, or none of less than 64 kB: " +
			"give what refers to itself a way to end, or lower its counts")
	}
	if g.work.err != nil { // which may have caused the other
		err = g.work.err
	}
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", name, err)
	}
	return &Constraint{name: name, g: g, root: root}, nil
}

// Choices is satisfied by exactly one of the texts.
func Choices(ctx context.Context, texts []string) (*Constraint, error) {
	if len(texts) == 0 {
		return nil, errors.New("there is nothing to choose from: give at least one text")
	}
	g := newGrammar(newWork(ctx))
	total := 0
	for i, text := range texts {
		if text == "" {
			return nil, fmt.Errorf("choice %d is empty", i+1)
		}
		total += len(text)
	}
	if total > MaxBytes {
		return nil, fmt.Errorf("the choices have %d bytes together: at most %d are read", total, MaxBytes)
	}
	return newConstraint("list of choices", g, g.literals(slices.Clone(texts)), nil)
}

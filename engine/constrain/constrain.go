// Package constrain gives a reply a form: JSON of a schema, a regular expression, one of several
// texts, or a grammar.
//
// Each description of a form is compiled to a context-free grammar whose terminals are sets of
// bytes ([Schema], [Regex], [Choices], [Grammar]). The alphabet is bytes because tokens are byte
// strings, which may end inside a UTF-8 sequence.
//
// An automaton runs the grammar as a set of stacks. A stack holds what is still expected, with the
// next part on top. Reading a byte drops the stacks whose top, a set of bytes, lacks this byte. The other
// stacks lose their top, and what lies below is expanded until each top is a terminal again. Stacks are
// linked lists that share their tails; equal stacks are stored once. A set of stacks is a state, and
// equal sets are one state. Where a byte leads from a state is computed once. So a regular part of a
// grammar becomes a finite automaton, of which only the states that replies reach are made. Nested
// parts may be of any depth that can still be closed, and counted repetitions are not copied.
//
// A [Shaper] forbids each token whose bytes lead nowhere. It finds these tokens by walking the vocabulary,
// a tree of bytes, along the automaton. It caches which tokens each state allows (masks).
//
// # A reply that always closes
//
// A constraint is of little use if a reply reaches its token limit in the middle of an object. So
// each state has a closing: one of the shortest texts that finish the reply. It is chosen by a fixed
// order of bytes and spelled in as few tokens as the vocabulary allows. The first token of a
// closing leads to a state whose closing is the rest, one token shorter. A token is forbidden if
// the closing after it would exceed the limit. So from a state that can be closed in time there is
// always a token to another such state. A reply whose limit is at least [Shaper.Shortest] ends with
// a complete form, unless a ban forbids all such tokens.
//
// # Limits of work
//
// A short text can describe a form that is expensive to compute: nested counts, many ways to read
// the same bytes, references that double the form. So the steps and bytes are limited for compiling a
// form, and for each token that is written under it. This work also ends when its context is done. If
// it exceeds a limit, an error says so and ends the reply.
package constrain

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Constraint is a compiled form of a reply. It is immutable and may be shared.
type Constraint struct {
	name string
	g    *grammar
	root expr
}

// Name returns the kind of the constraint: "JSON schema", "regular expression", "list of choices" or
// "grammar".
func (c *Constraint) Name() string { return c.name }

// MaxBytes is the largest size of the text of a constraint.
const MaxBytes = 256 << 10

// MaxRepeat is the largest minimum of a repetition. A larger maximum is lowered to it.
const MaxRepeat = 10_000

// newConstraint checks a grammar. err is the error that occurred while the grammar was built, or nil.
func newConstraint(name string, g *grammar, root expr, err error) (*Constraint, error) {
	if err == nil {
		err = g.checkLeftRecursion()
	}
	if err == nil && g.lengths(everyByte())[root] >= maxClosing {
		err = errors.New("no reply of finite length could fit it, or none of less than 64 kB: " +
			"give what refers to itself a way to end, or lower its counts")
	}
	if g.work.err != nil { // the cause of err, if both are set
		err = g.work.err
	}
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", name, err)
	}
	return &Constraint{name: name, g: g, root: root}, nil
}

// Choices returns a constraint that allows exactly the given texts. It returns an error if there is no
// text, if a text is empty, or if the texts together have more than MaxBytes.
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

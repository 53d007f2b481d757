package jinja

import (
	"fmt"
	"maps"
	"strings"
)

// evalArguments evaluates the arguments of a call in the order of the source.
func (r *runner) evalArguments(list []argument) arguments {
	a := arguments{runner: r, named: map[string]Value{}}
	for _, next := range list {
		v := r.eval(next.value)
		if !r.alloc(64) {
			break
		}
		switch {
		case next.spread == 1:
			if items := r.iterate(v); r.alloc(16 * len(items)) {
				a.positional = append(a.positional, items...)
			}
		case next.spread == 2:
			d, ok := v.(*Dict)
			if !ok {
				r.fail("** needs a dict, not %s", kind(v))
				break
			}
			for i, key := range d.keys {
				if name, ok := key.(Text); ok && r.alloc(64) {
					a.name(name, d.values[i])
				}
			}
		case next.name != "":
			a.name(Literal(next.name), v)
		default:
			a.positional = append(a.positional, v)
		}
	}
	return a
}

// prepare evaluates the function and the arguments of a call. If there was an error, the function is nil.
func (n *callNode) prepare(r *runner) (function, arguments) {
	callee := r.eval(n.callee)
	a := r.evalArguments(n.arguments)
	switch f := callee.(type) {
	case function:
		if r.err == nil {
			return f, a
		}
	case undefined:
		r.fail("function or method %.80s does not exist or is not allowed", f.name)
	default:
		r.fail("%s cannot be called", kind(callee))
	}
	return nil, a
}

func (n *callNode) eval(r *runner) Value {
	if f, a := n.prepare(r); f != nil {
		return f(a)
	}
	return nil
}

func (n *filterCallNode) eval(r *runner) Value { return n.apply(r, r.eval(n.value)) }

func (n *filterCallNode) apply(r *runner, v Value) Value {
	v = r.applyFilter(n.name, v, r.evalArguments(n.arguments))
	r.locate(n)
	return v
}

func (n *testNode) eval(r *runner) Value {
	v := r.eval(n.value)
	return r.applyTest(n.name, v, r.evalArguments(n.arguments))
}

// arguments are the evaluated arguments of a call.
type arguments struct {
	*runner
	positional []Value
	named      map[string]Value
	names      []Text   // the keys of named, in the order of the source; a key that ** took from a dict may be data
	parameters []string // a builtin's names for its arguments, in order; empty if it takes any, and for other functions
}

// builtin is a method or a filter of this package.
type builtin struct {
	parameters string // names with blanks between them; "*": any arguments
	run        func(r *runner, v Value, a arguments) Value
}

// call checks the names and the number of the arguments, and runs the built-in function.
func (b builtin) call(r *runner, name string, v Value, a arguments) Value {
	if r.err != nil {
		return nil
	}
	if b.parameters != "*" {
		a.parameters = strings.Fields(b.parameters)
		if len(a.positional) > len(a.parameters) {
			return r.fail("%s takes at most %d arguments, not %d", name, len(a.parameters), len(a.positional))
		}
		unknown := maps.Clone(a.named)
		for _, p := range a.parameters[len(a.positional):] {
			delete(unknown, p)
		}
		for p := range unknown {
			return r.fail("%s takes no argument named %.40q here", name, p)
		}
	}
	result := b.run(r, v, a)
	if r.err != nil && !r.located {
		r.err = fmt.Errorf("%s: %w", name, r.err)
	}
	return result
}

func (a *arguments) name(name Text, v Value) {
	a.named[name.s], a.names = v, append(a.names, name)
}

// at returns argument i, by position or by name, or the fallback.
func (a arguments) at(i int, fallback Value) Value {
	if i < len(a.positional) {
		return a.positional[i]
	}
	if i < len(a.parameters) {
		if v, ok := a.named[a.parameters[i]]; ok {
			return v
		}
	}
	return fallback
}

// text returns argument i. It fails if that is missing or not a string.
func (a arguments) text(i int) Text {
	v := a.at(i, undefined{})
	t, ok := v.(Text)
	if !ok {
		a.fail("argument %d must be a string, not %s", i+1, kind(v))
	}
	return t
}

// integer returns argument i, or the fallback. It fails if that is not an integer or a truth value.
func (a arguments) integer(i, fallback int) int {
	v := a.at(i, fallback)
	n, ok := integer(v)
	if !ok {
		a.fail("argument %d must be an integer, not %s", i+1, kind(v))
	}
	return n
}

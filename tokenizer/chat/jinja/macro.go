package jinja

import (
	"fmt"
)

// macro returns the function that a macro statement defines. It sees the variables of the scope
// that the statement is in.
func (r *runner) macro(n *macroNode, home *scope) function {
	return func(args arguments) (Value, error) {
		if len(args.positional) > len(n.parameters) {
			return nil, fmt.Errorf("macro %.40q takes %d arguments, not %d", n.name, len(n.parameters), len(args.positional))
		}
		inner, err := r.inside(home)
		if err != nil {
			return nil, err
		}
		known := map[string]bool{"caller": true}
		for _, p := range n.parameters {
			known[p.name] = true
		}
		for name, v := range args.named {
			if !known[name] {
				return nil, fmt.Errorf("macro %.40q has no parameter %.40q", n.name, name)
			}
			inner.variables[name] = v
		}
		for i, v := range args.positional {
			inner.variables[n.parameters[i].name] = v
		}
		if err := r.fallbacks(n, inner); err != nil {
			return nil, err
		}
		return r.captureIn(inner, n.body)
	}
}

// fallbacks sets the parameters that the call left out to their default values.
func (r *runner) fallbacks(n *macroNode, inner *scope) error {
	outer := r.scope
	r.scope = inner
	defer func() { r.scope = outer }()
	for _, p := range n.parameters {
		if _, given := inner.variables[p.name]; given {
			continue
		}
		if p.fallback == nil {
			inner.variables[p.name] = undefined{"parameter " + p.name}
			continue
		}
		v, err := r.eval(p.fallback)
		if err != nil {
			return err
		}
		inner.variables[p.name] = v
	}
	return nil
}

// runCall runs a call statement: the called macro gets the body of the statement through caller().
func (r *runner) runCall(n *callNode) error {
	f, args, err := r.prepareCall(n.call)
	if err != nil {
		return err
	}
	home := r.scope
	args.named["caller"] = function(func(arguments) (Value, error) { return r.capture(home, n.body) })
	v, err := f(args)
	if err != nil {
		return err
	}
	text, err := r.str(v)
	if err != nil {
		return err
	}
	return r.write(text)
}

func (r *runner) runFilter(n *filterNode) error {
	text, err := r.capture(r.scope, n.body)
	if err != nil {
		return err
	}
	v := Value(text)
	for _, call := range n.filters {
		if v, err = r.filter(v, call); err != nil {
			return err
		}
	}
	if text, err = r.str(v); err != nil {
		return err
	}
	return r.write(text)
}

package jinja

import (
	"errors"
	"fmt"
)

// loop is the variable named loop inside a for loop.
type loop struct {
	items   []Value
	at      int // index of the current element
	changed Value
}

func (r *runner) runFor(n *forNode) error {
	list, err := r.eval(n.list)
	if err != nil {
		return err
	}
	items, err := r.iterate(list)
	if err != nil {
		return err
	}
	outer := r.scope
	defer func() { r.scope = outer }()
	if n.condition != nil {
		if items, err = r.chosen(n, items); err != nil {
			return err
		}
	}
	if len(items) == 0 {
		if r.scope, err = r.inside(outer); err != nil {
			return err
		}
		return r.statements(n.otherwise)
	}
	l := &loop{items: items, changed: undefined{}}
	for l.at = range items {
		if err := r.bind(outer, n.targets, items[l.at]); err != nil {
			return err
		}
		r.scope.variables["loop"] = l
		err := r.statements(n.body)
		if errors.Is(err, errBreak) {
			return nil
		}
		if err != nil && !errors.Is(err, errContinue) {
			return err
		}
	}
	return nil
}

// chosen returns the elements for which the condition of the loop holds.
func (r *runner) chosen(n *forNode, items []Value) ([]Value, error) {
	outer := r.scope
	defer func() { r.scope = outer }()
	var kept []Value
	for _, item := range items {
		if err := r.bind(outer, n.targets, item); err != nil {
			return nil, err
		}
		holds, err := r.eval(n.condition)
		if err != nil {
			return nil, err
		}
		if truth(holds) {
			kept = append(kept, item)
		}
	}
	return kept, r.alloc(16 * len(kept))
}

// bind opens the scope of an iteration with the loop variables in it.
func (r *runner) bind(outer *scope, targets []string, item Value) (err error) {
	if err := r.step(); err != nil {
		return err
	}
	if r.scope, err = r.inside(outer); err != nil {
		return err
	}
	if len(targets) == 1 {
		r.scope.variables[targets[0]] = item
		return nil
	}
	parts, err := r.iterate(item)
	if err != nil {
		return err
	}
	if len(parts) != len(targets) {
		return fmt.Errorf("%d values for %d loop variables", len(parts), len(targets))
	}
	for i, target := range targets {
		r.scope.variables[target] = parts[i]
	}
	return nil
}

// attribute returns an attribute of the loop variable.
func (l *loop) attribute(r *runner, name string) Value {
	neighbour := func(i int) Value {
		if i < 0 || i >= len(l.items) {
			return undefined{"loop." + name}
		}
		return l.items[i]
	}
	switch name {
	case "index":
		return l.at + 1
	case "index0":
		return l.at
	case "revindex":
		return len(l.items) - l.at
	case "revindex0":
		return len(l.items) - l.at - 1
	case "first":
		return l.at == 0
	case "last":
		return l.at == len(l.items)-1
	case "length":
		return len(l.items)
	case "depth": // of recursion, which is not allowed
		return 1
	case "depth0":
		return 0
	case "previtem":
		return neighbour(l.at - 1)
	case "nextitem":
		return neighbour(l.at + 1)
	case "cycle":
		return function(func(args arguments) (Value, error) {
			if len(args.positional) == 0 {
				return nil, errors.New("loop.cycle needs values")
			}
			return args.positional[l.at%len(args.positional)], nil
		})
	case "changed":
		return function(func(args arguments) (Value, error) {
			now := &List{items: args.positional, tuple: true}
			same, err := r.equal(l.changed, now)
			l.changed = now
			return !same, err
		})
	}
	return undefined{"loop." + name}
}

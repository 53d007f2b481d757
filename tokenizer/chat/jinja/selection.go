package jinja

import (
	"errors"
	"fmt"
)

// selecting returns one of the filters select, reject, selectattr and rejectattr. They keep or
// drop the elements that pass a test, or those whose attribute passes it.
func selecting(keep, byAttribute bool) filterFunc {
	return func(r *runner, v Value, args arguments) (Value, error) {
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		var attribute Value
		if byAttribute {
			if len(args.positional) == 0 {
				return nil, errors.New("it needs the name of an attribute")
			}
			attribute = args.positional[0]
			args.positional = args.positional[1:]
		}
		selected := &List{}
		for _, item := range items {
			subject := item
			if byAttribute {
				if subject, err = r.path(item, attribute); err != nil {
					return nil, err
				}
			}
			passed, err := r.passes(subject, args)
			if err != nil {
				return nil, err
			}
			if passed == keep {
				selected.items = append(selected.items, item)
			}
		}
		return selected, r.alloc(48 + 16*len(selected.items))
	}
}

// passes applies the test that args names. Without a test, a value passes if it is true.
func (r *runner) passes(v Value, args arguments) (bool, error) {
	if err := r.step(); err != nil {
		return false, err
	}
	if len(args.positional) == 0 {
		return truth(v), nil
	}
	name, ok := args.positional[0].(Text)
	if !ok {
		return false, fmt.Errorf("the name of a test must be a string, not %s", kind(args.positional[0]))
	}
	result, err := r.applyTest(name.s, v, arguments{positional: args.positional[1:], named: args.named})
	return truth(result), err
}

// path returns an attribute of an attribute, as in "function.name".
func (r *runner) path(v, attribute Value) (Value, error) {
	name, ok := attribute.(Text)
	if !ok {
		return r.item(v, attribute)
	}
	if err := r.alloc(96 * (1 + len(name.s))); err != nil {
		return nil, err
	}
	for _, part := range name.splitAll(".", -1) {
		var err error
		if v, err = r.item(v, part); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// mapFilter returns an attribute of each element, or the result of a filter on each.
func mapFilter(r *runner, v Value, args arguments) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if err := r.alloc(48 + 16*len(items)); err != nil {
		return nil, err
	}
	attribute, byAttribute := args.named["attribute"]
	var filter Text
	if !byAttribute {
		if filter, err = args.text(0, "filter"); err != nil {
			return nil, err
		}
		args.positional = args.positional[1:]
	}
	mapped := &List{items: make([]Value, len(items))}
	for i, item := range items {
		if err := r.enter(); err != nil {
			return nil, err
		}
		if byAttribute {
			mapped.items[i], err = r.path(item, attribute)
			if _, missing := mapped.items[i].(undefined); missing {
				mapped.items[i] = args.get(len(args.positional), "default", mapped.items[i])
			}
		} else {
			mapped.items[i], err = r.applyFilter(filter.s, item, args)
		}
		r.leave()
		if err != nil {
			return nil, err
		}
	}
	return mapped, nil
}

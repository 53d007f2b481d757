package jinja

import "slices"

func minFilter(r *runner, v Value, _ arguments) (Value, error) { return r.extreme(v, -1) }
func maxFilter(r *runner, v Value, _ arguments) (Value, error) { return r.extreme(v, 1) }

// extreme returns the first element that is smallest (sign -1) or largest (sign 1).
func (r *runner) extreme(v Value, sign int) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return undefined{"the extreme of nothing"}, nil
	}
	best := items[0]
	for _, item := range items[1:] {
		c, err := r.compare(item, best)
		if err != nil {
			return nil, err
		}
		if c*sign > 0 {
			best = item
		}
	}
	return best, nil
}

func uniqueFilter(r *runner, v Value, _ arguments) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	unique := &List{}
	for _, item := range items {
		known, err := r.contains(unique, item)
		if err != nil {
			return nil, err
		}
		if !truth(known) {
			unique.items = append(unique.items, item)
		}
	}
	return unique, r.alloc(16 * len(items))
}

func sortFilter(r *runner, v Value, args arguments) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	attribute := args.get(2, "attribute", nil)
	caseful := truth(args.get(1, "case_sensitive", false))
	keys := map[int]Value{}
	order := make([]int, len(items))
	if err := r.alloc(96 * len(items)); err != nil {
		return nil, err
	}
	for i, item := range items {
		order[i] = i
		if attribute != nil {
			if item, err = r.item(item, attribute); err != nil {
				return nil, err
			}
		}
		if t, ok := item.(Text); ok && !caseful {
			if item, err = textMethods["lower"](r, t, arguments{}); err != nil {
				return nil, err
			}
		}
		keys[i] = item
	}
	sign := 1
	if truth(args.get(0, "reverse", false)) {
		sign = -1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if err != nil {
			return 0
		}
		var c int
		c, err = r.compare(keys[a], keys[b])
		return c * sign
	})
	sorted := make([]Value, len(items))
	for i, at := range order {
		sorted[i] = items[at]
	}
	return &List{items: sorted}, err
}

func dictsortFilter(r *runner, v Value, _ arguments) (Value, error) {
	pairs, err := itemsFilter(r, v, arguments{})
	if err != nil {
		return nil, err
	}
	return sortFilter(r, pairs, arguments{named: map[string]Value{"attribute": 0}})
}

package jinja

// loop is the variable named loop inside a for loop.
type loop struct {
	items   []Value
	at      int   // index of the current element
	changed Value // the arguments of the last call of loop.changed
}

func (n *forNode) run(r *runner) {
	items := r.iterate(r.eval(n.list))
	outer := r.scope
	defer func() { r.scope = outer }()
	bind := func(item Value) {
		r.scope = r.inside(outer)
		r.assign(n.target, item)
	}
	if n.condition != nil {
		var kept []Value
		for _, item := range items {
			if !r.step() || !r.alloc(16) {
				return
			}
			if bind(item); truth(r.eval(n.condition)) {
				kept = append(kept, item)
			}
		}
		items = kept
	}
	l := &loop{items: items, changed: undefined{}}
	for l.at = range items {
		if !r.step() {
			return
		}
		bind(items[l.at])
		r.scope.variables["loop"] = l
		r.runAll(n.body)
		jump := r.jump
		if r.jump = ""; jump == "break" {
			return
		}
	}
	if len(items) == 0 {
		r.scope = r.inside(outer)
		r.runAll(n.otherwise)
	}
}

// attribute returns an attribute of the loop variable.
func (l *loop) attribute(r *runner, name string) Value {
	neighbour := func(i int) Value {
		if i < 0 || i >= len(l.items) {
			return undefined{"loop." + name}
		}
		return l.items[i]
	}
	v, ok := map[string]Value{
		"index":     l.at + 1,
		"index0":    l.at,
		"revindex":  len(l.items) - l.at,
		"revindex0": len(l.items) - l.at - 1,
		"first":     l.at == 0,
		"last":      l.at == len(l.items)-1,
		"length":    len(l.items),
		"depth":     1, // always, because recursive loops are not allowed
		"depth0":    0,
		"previtem":  neighbour(l.at - 1),
		"nextitem":  neighbour(l.at + 1),
		"cycle":     function(func(a arguments) Value { return r.cycle(l, a) }),
		"changed":   function(func(a arguments) Value { return r.changed(l, a) }),
	}[name]
	if !ok {
		return undefined{"loop." + name}
	}
	return v
}

func (r *runner) cycle(l *loop, a arguments) Value {
	if len(a.positional) == 0 {
		return r.fail("loop.cycle needs values")
	}
	return a.positional[l.at%len(a.positional)]
}

func (r *runner) changed(l *loop, a arguments) Value {
	before := l.changed
	l.changed = &List{items: a.positional, form: formTuple}
	return !r.equal(before, l.changed)
}

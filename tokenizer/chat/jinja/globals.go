package jinja

// globals returns the functions that a template may call by name and does not define itself.
func (r *runner) globals() map[string]Value {
	return map[string]Value{
		"range":           function(r.rangeOf),
		"namespace":       function(r.newNamespace),
		"dict":            function(func(a arguments) Value { return r.mapping(a) }),
		"raise_exception": function(r.raise),
		"strftime_now":    function(r.strftimeNow),
	}
}

func (r *runner) rangeOf(a arguments) Value {
	start, stop, step := 0, a.integer(0, 0), 1
	if n := len(a.positional); n < 1 || n > 3 {
		return r.fail("range takes one to three integers, not %d", n)
	} else if n > 1 {
		start, stop, step = stop, a.integer(1, 0), a.integer(2, 1)
	}
	if step == 0 {
		return r.fail("the step of range is zero")
	}
	if max(magnitude(start), magnitude(stop), magnitude(step)) > 1<<40 {
		return r.fail("range reaches beyond 2^40; at most 100000 numbers are allowed")
	}
	count := rangeLength(start, stop, step)
	if count > 100_000 { // as in Jinja's sandbox
		return r.fail("range of %d numbers; at most 100000 are allowed", count)
	}
	if !r.alloc(48 + 16*count) {
		return nil
	}
	list := &List{items: make([]Value, count), form: formRange}
	for i := range list.items {
		list.items[i] = start + i*step
	}
	return list
}

func (r *runner) newNamespace(a arguments) Value {
	ns := &namespace{attributes: map[string]Value{}}
	d := r.mapping(a)
	for i, key := range d.keys {
		if name, ok := key.(Text); ok {
			ns.attributes[name.s] = d.values[i]
		}
	}
	return ns
}

// mapping is Python's dict(other, name=value).
func (r *runner) mapping(a arguments) *Dict {
	d := &Dict{}
	if other := a.at(0, nil); other != nil {
		from, ok := other.(*Dict)
		if !ok || len(a.positional) > 1 {
			r.fail("only one dict and named arguments are allowed here, not %s", kind(other))
			return d
		}
		for i, key := range from.keys {
			if r.alloc(128) {
				d.set(key, from.values[i])
			}
		}
	}
	for _, name := range a.names {
		if v, ok := a.named[name.s]; ok && r.alloc(128) {
			d.set(name, v)
		}
	}
	return d
}

func (r *runner) raise(a arguments) Value {
	return r.fail("the template refuses this conversation: %.300s", r.str(a.at(0, Text{})).s)
}

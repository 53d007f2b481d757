package sim

import "slices"

// atomic compiles atom, which returns the old value, and red, which does not. It refuses
// operations on floats: their sum would be in another order in every run.
func (c *compiler) atomic() execute {
	for c.nextIs("relaxed", "acquire", "release", "acq_rel", "gpu", "cta", "sys") {
		c.rest = c.rest[1:]
	}
	where := generic
	if c.nextIs("global", "shared") {
		where = spaces[c.oneOf("global", "shared")]
	}
	for c.nextIs("gpu", "cta", "sys") {
		c.rest = c.rest[1:]
	}
	operation := c.oneOf("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
	if c.nextIs("f16", "f16x2", "f32", "f64", "noftz") {
		c.fail("%s sums floats in an order that changes from run to run", c.in.fullName())
		return nil
	}
	t := c.typ("b32", "b64", "u32", "s32", "u64", "s64")
	f := change(operation, t)
	if f == nil {
		c.fail("%s has no %v", operation, t)
		return nil
	}
	first := 0
	d := -1
	operands := 2
	if c.in.name == "atom" {
		first, operands = 1, 3
	}
	if operation == "cas" {
		operands++
	}
	if !c.operands(operands) {
		return nil
	}
	if first == 1 {
		d = c.to(0, t)
	}
	c.touches(where, t.bytes())
	at, b := c.address(first, where), c.from(first+1, t)
	last := b
	if operation == "cas" {
		last = c.from(first+2, t)
	}
	return func(w *warp, lanes uint32) error {
		w.block.memory.atomics.Lock()
		defer w.block.memory.atomics.Unlock()
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			data, err := w.access(at.space, w.registers[at.base][l]+at.offset, t.bytes(), l, updating)
			if err != nil {
				return err
			}
			old := get(data, t.bytes())
			put(data, t.bytes(), f(old, w.registers[b][l], w.registers[last][l]))
			if d >= 0 {
				w.registers[d][l] = old
			}
		}
		return nil
	}
}

// change returns the function from the old content to the new, or nil if the operation does not
// exist for the type.
func change(operation string, t scalar) func(old, b, c uint64) uint64 {
	value := extend(t)
	less := func(a, b uint64) bool { return a < b }
	if t.kind == signed {
		less = func(a, b uint64) bool { return int64(value(a)) < int64(value(b)) }
	}
	bitwise := []string{"and", "or", "xor", "exch", "cas"}
	if slices.Contains(bitwise, operation) != (t.kind == untyped) ||
		(operation == "inc" || operation == "dec") && t != u32 {
		return nil
	}
	return map[string]func(old, b, c uint64) uint64{
		"add":  func(old, b, _ uint64) uint64 { return old + b },
		"and":  func(old, b, _ uint64) uint64 { return old & b },
		"or":   func(old, b, _ uint64) uint64 { return old | b },
		"xor":  func(old, b, _ uint64) uint64 { return old ^ b },
		"exch": func(_, b, _ uint64) uint64 { return b },
		"cas": func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		},
		"min": func(old, b, _ uint64) uint64 {
			if less(b, old) {
				return b
			}
			return old
		},
		"max": func(old, b, _ uint64) uint64 {
			if less(old, b) {
				return b
			}
			return old
		},
		"inc": func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		},
		"dec": func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		},
	}[operation]
}

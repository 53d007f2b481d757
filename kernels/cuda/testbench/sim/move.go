package sim

// move compiles mov: it copies a register, packs a vector into one, or unpacks one.
func (c *compiler) move() execute {
	t := c.typ("pred", "b16", "b32", "b64", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64")
	if !c.operands(2) {
		return nil
	}
	switch {
	case t == pred:
		return c.movePredicate()
	case c.operand(0).kind == vectorOperand:
		return c.unpack(t)
	case c.operand(1).kind == vectorOperand:
		return c.pack(t)
	}
	d, a := c.to(0, t), c.from(1, t)
	return func(w *warp, lanes uint32) error {
		to, from := &w.registers[d], &w.registers[a]
		if lanes == everyLane {
			*to = *from
			return nil
		}
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			to[l] = from[l]
		}
		return nil
	}
}

func (c *compiler) movePredicate() execute {
	d := c.toPredicate(c.operand(0))
	if o := c.operand(1); o.kind == integerOperand {
		return func(w *warp, lanes uint32) error {
			w.setPredicate(d, lanes, -uint32(o.value&1))
			return nil
		}
	}
	a := c.condition(1)
	return func(w *warp, lanes uint32) error {
		w.setPredicate(d, lanes, a.holds(w))
		return nil
	}
}

func (c *compiler) unpack(t scalar) execute {
	n := len(c.operand(0).elements)
	part := scalar{untyped, t.bits / n}
	var to []int
	for _, o := range c.elements(0, n) {
		to = append(to, c.destination(o, part, false))
	}
	a := c.from(1, t)
	return func(w *warp, lanes uint32) error {
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			whole := w.registers[a][l]
			for i, d := range to {
				w.registers[d][l] = whole >> (i * part.bits) & part.mask()
			}
		}
		return nil
	}
}

func (c *compiler) pack(t scalar) execute {
	n := len(c.operand(1).elements)
	part := scalar{untyped, t.bits / n}
	var from []int
	for _, o := range c.elements(1, n) {
		from = append(from, c.source(o, part, false))
	}
	d := c.to(0, t)
	return func(w *warp, lanes uint32) error {
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			var whole uint64
			for i, a := range from {
				whole |= w.registers[a][l] << (i * part.bits)
			}
			w.registers[d][l] = whole
		}
		return nil
	}
}

// window is where a state space begins among the generic addresses.
func (s space) window() uint64 {
	switch s {
	case sharedSpace:
		return sharedWindow
	case localSpace:
		return localWindow
	}
	return 0
}

// convertAddress compiles cvta, which turns an address of a state space into a generic one, or
// back.
func (c *compiler) convertAddress() execute {
	back := c.take("to")
	where := spaces[c.oneOf("global", "shared", "local", "const")]
	c.need("u64")
	window := where.window()
	if back {
		window = -window
	}
	return c.unary(u64, u64, func(a uint64) uint64 { return a + window })
}

func (c *compiler) nothing() execute { return func(*warp, uint32) error { return nil } }

// fence compiles fences and membar. They do nothing, because all threads see every access at once here.
func (c *compiler) fence() execute {
	if c.in.name == "membar" {
		c.oneOf("gl", "cta", "sys")
	} else {
		c.oneOf("acq_rel", "sc")
		c.oneOf("gpu", "cta", "sys")
	}
	c.operands(0)
	return c.nothing()
}

// prefetch compiles prefetch, which changes nothing. Hardware ignores an address outside of all memory; here it
// is an error, because it can only be a slip.
func (c *compiler) prefetch() execute {
	c.need("global")
	c.oneOf("L1", "L2")
	if !c.operands(1) {
		return nil
	}
	from := c.address(0, global)
	return func(w *warp, lanes uint32) error {
		base := &w.registers[from.base]
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			at := base[l] + from.offset
			if _, err := w.block.memory.at(at, 1, &w.hint); err != nil {
				return laneError{l, err}
			}
			w.block.memory.notePrefetch(at)
		}
		return nil
	}
}

func (c *compiler) sleep() execute {
	c.need("u32")
	if c.operands(1) {
		c.from(0, u32)
	}
	return c.nothing()
}

package sim

var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

// compare is setp: p = a ⊙ b, q = not (a ⊙ b), both joined with a third predicate by a boolean operation if there is one.
func (c *compiler) compare() execute {
	how := c.oneOf(comparisons...)
	join := ""
	if c.nextIs("and", "or", "xor") {
		join = c.oneOf("and", "or", "xor")
	}
	t := c.typ("b16", "b32", "b64", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64")
	holds := comparison(how, t)
	if holds == nil {
		c.fail("%s does not compare %v", how, t)
		return nil
	}
	count := 3
	var with condition
	if join != "" {
		count = 4
	}
	if !c.operands(count) {
		return nil
	}
	if join != "" {
		with = c.condition(3)
	}
	target := c.operand(0)
	p, q := c.toPredicate(target), -1
	if target.second != nil {
		q = c.toPredicate(*target.second)
	}
	a, b := c.from(1, t), c.from(2, t)
	return func(w *warp, lanes uint32) error {
		x, y := &w.registers[a], &w.registers[b]
		var yes uint32
		for m := lanes; m != 0; m &= m - 1 {
			if l := lowest(m); holds(x[l], y[l]) {
				yes |= 1 << l
			}
		}
		no := ^yes
		if join != "" {
			other := with.holds(w)
			yes, no = joinBits(join, yes, other), joinBits(join, no, other)
		}
		w.setPredicate(p, lanes, yes)
		if q >= 0 {
			w.setPredicate(q, lanes, no)
		}
		return nil
	}
}

func joinBits(how string, a, b uint32) uint32 {
	switch how {
	case "and":
		return a & b
	case "or":
		return a | b
	}
	return a ^ b
}

// comparison returns nil where an operator does not exist for a type.
func comparison(how string, t scalar) func(a, b uint64) bool {
	switch t.kind {
	case float:
		if t.bits == 32 {
			return compareNumbers(how, number32)
		}
		return compareNumbers(how, number64)
	case signed:
		shift := 64 - t.bits
		return compareIntegers(how, func(a uint64) int64 { return int64(a<<shift) >> shift })
	case unsigned:
		switch how { // other names for the same
		case "lo":
			how = "lt"
		case "ls":
			how = "le"
		case "hi":
			how = "gt"
		case "hs":
			how = "ge"
		}
	case untyped:
		if how != "eq" && how != "ne" {
			return nil
		}
	}
	return compareIntegers(how, func(a uint64) uint64 { return a })
}

func compareIntegers[T int64 | uint64](how string, v func(uint64) T) func(a, b uint64) bool {
	return map[string]func(a, b uint64) bool{
		"eq": func(a, b uint64) bool { return a == b },
		"ne": func(a, b uint64) bool { return a != b },
		"lt": func(a, b uint64) bool { return v(a) < v(b) },
		"le": func(a, b uint64) bool { return v(a) <= v(b) },
		"gt": func(a, b uint64) bool { return v(a) > v(b) },
		"ge": func(a, b uint64) bool { return v(a) >= v(b) },
	}[how]
}

// compareNumbers: an operator that ends in u also holds when one side is NaN.
func compareNumbers[T float32 | float64](how string, v func(uint64) T) func(a, b uint64) bool {
	return map[string]func(a, b uint64) bool{
		"eq":  func(a, b uint64) bool { return v(a) == v(b) },
		"ne":  func(a, b uint64) bool { return v(a) < v(b) || v(a) > v(b) },
		"lt":  func(a, b uint64) bool { return v(a) < v(b) },
		"le":  func(a, b uint64) bool { return v(a) <= v(b) },
		"gt":  func(a, b uint64) bool { return v(a) > v(b) },
		"ge":  func(a, b uint64) bool { return v(a) >= v(b) },
		"equ": func(a, b uint64) bool { return !(v(a) < v(b) || v(a) > v(b)) },
		"neu": func(a, b uint64) bool { return v(a) != v(b) },
		"ltu": func(a, b uint64) bool { return !(v(a) >= v(b)) },
		"leu": func(a, b uint64) bool { return !(v(a) > v(b)) },
		"gtu": func(a, b uint64) bool { return !(v(a) <= v(b)) },
		"geu": func(a, b uint64) bool { return !(v(a) < v(b)) },
		"num": func(a, b uint64) bool { return v(a) == v(a) && v(b) == v(b) },
		"nan": func(a, b uint64) bool { return v(a) != v(a) || v(b) != v(b) },
	}[how]
}

// choose is selp.
func (c *compiler) choose() execute {
	t := c.typ("b16", "b32", "b64", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64")
	if !c.operands(4) {
		return nil
	}
	d, a, b, p := c.to(0, t), c.from(1, t), c.from(2, t), c.condition(3)
	return func(w *warp, lanes uint32) error {
		to, x, y := &w.registers[d], &w.registers[a], &w.registers[b]
		first := p.holds(w)
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			if first>>l&1 != 0 {
				to[l] = x[l]
			} else {
				to[l] = y[l]
			}
		}
		return nil
	}
}

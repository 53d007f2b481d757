package sim

var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu",
	"ltu", "leu", "gtu", "geu", "num", "nan"}

// compare compiles setp, which sets two predicates: p is the result of a comparison, q its opposite. A
// boolean operation, if there is one, then combines each of them with a third predicate.
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

// comparison returns the function of an operator, or nil if it does not exist for the type. Registers
// are zero beyond their size. So unsigned values are compared unchanged; signed values are first
// shifted until their sign is the top bit.
func comparison(how string, t scalar) func(a, b uint64) bool {
	switch t.kind {
	case float:
		f := compareNumbers[how]
		switch {
		case f == nil:
			return nil
		case t.bits == 32:
			return func(a, b uint64) bool { return f(float64(number32(a)), float64(number32(b))) }
		}
		return func(a, b uint64) bool { return f(number64(a), number64(b)) }
	case signed:
		return compareSigned(how, 64-t.bits)
	case untyped:
		if how != "eq" && how != "ne" {
			return nil
		}
	}
	return compareUnsigned[how]
}

func compareSigned(how string, shift int) func(a, b uint64) bool {
	return map[string]func(a, b uint64) bool{
		"eq": func(a, b uint64) bool { return a == b },
		"ne": func(a, b uint64) bool { return a != b },
		"lt": func(a, b uint64) bool { return int64(a<<shift) < int64(b<<shift) },
		"le": func(a, b uint64) bool { return int64(a<<shift) <= int64(b<<shift) },
		"gt": func(a, b uint64) bool { return int64(a<<shift) > int64(b<<shift) },
		"ge": func(a, b uint64) bool { return int64(a<<shift) >= int64(b<<shift) },
	}[how]
}

var compareUnsigned = map[string]func(a, b uint64) bool{
	"eq": func(a, b uint64) bool { return a == b },
	"ne": func(a, b uint64) bool { return a != b },
	"lt": func(a, b uint64) bool { return a < b }, "lo": func(a, b uint64) bool { return a < b },
	"le": func(a, b uint64) bool { return a <= b }, "ls": func(a, b uint64) bool { return a <= b },
	"gt": func(a, b uint64) bool { return a > b }, "hi": func(a, b uint64) bool { return a > b },
	"ge": func(a, b uint64) bool { return a >= b }, "hs": func(a, b uint64) bool { return a >= b },
}

// compareNumbers has the operators on floats. An operator that ends in u is also true if a side is NaN.
var compareNumbers = map[string]func(a, b float64) bool{
	"eq":  func(a, b float64) bool { return a == b },
	"ne":  func(a, b float64) bool { return a < b || a > b },
	"lt":  func(a, b float64) bool { return a < b },
	"le":  func(a, b float64) bool { return a <= b },
	"gt":  func(a, b float64) bool { return a > b },
	"ge":  func(a, b float64) bool { return a >= b },
	"equ": func(a, b float64) bool { return !(a < b || a > b) },
	"neu": func(a, b float64) bool { return a != b },
	"ltu": func(a, b float64) bool { return !(a >= b) },
	"leu": func(a, b float64) bool { return !(a > b) },
	"gtu": func(a, b float64) bool { return !(a <= b) },
	"geu": func(a, b float64) bool { return !(a < b) },
	"num": func(a, b float64) bool { return a == a && b == b },
	"nan": func(a, b float64) bool { return a != a || b != b },
}

// choose compiles selp.
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

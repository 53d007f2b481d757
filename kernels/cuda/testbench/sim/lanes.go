package sim

// The loops over the lanes. Functions of the types one, two and three compute a result from the
// contents of registers. Of the result, the bits in mask are stored.

type (
	one   func(a uint64) uint64
	two   func(a, b uint64) uint64
	three func(a, b, c uint64) uint64
)

func (c *compiler) unary(to, from scalar, f one) execute {
	if !c.operands(2) {
		return nil
	}
	return eachOne(c.to(0, to), c.from(1, from), to.mask(), f)
}

func (c *compiler) binary(to, left, right scalar, f two) execute {
	if !c.operands(3) {
		return nil
	}
	return eachTwo(c.to(0, to), c.from(1, left), c.from(2, right), to.mask(), f)
}

func (c *compiler) ternary(to, first, second, third scalar, f three) execute {
	if !c.operands(4) {
		return nil
	}
	return eachThree(c.to(0, to), c.from(1, first), c.from(2, second), c.from(3, third), to.mask(), f)
}

func eachOne(d, a int, mask uint64, f one) execute {
	return func(w *warp, lanes uint32) error {
		to, x := &w.registers[d], &w.registers[a]
		if lanes == everyLane {
			for l := range to {
				to[l] = f(x[l]) & mask
			}
			return nil
		}
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			to[l] = f(x[l]) & mask
		}
		return nil
	}
}

func eachTwo(d, a, b int, mask uint64, f two) execute {
	return func(w *warp, lanes uint32) error {
		to, x, y := &w.registers[d], &w.registers[a], &w.registers[b]
		if lanes == everyLane {
			for l := range to {
				to[l] = f(x[l], y[l]) & mask
			}
			return nil
		}
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			to[l] = f(x[l], y[l]) & mask
		}
		return nil
	}
}

func eachThree(d, a, b, c int, mask uint64, f three) execute {
	return func(w *warp, lanes uint32) error {
		to, x, y, z := &w.registers[d], &w.registers[a], &w.registers[b], &w.registers[c]
		if lanes == everyLane {
			for l := range to {
				to[l] = f(x[l], y[l], z[l]) & mask
			}
			return nil
		}
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			to[l] = f(x[l], y[l], z[l]) & mask
		}
		return nil
	}
}

// extend turns a register's content of type t into 64 bits: sign-extended if t is signed, else
// zero-extended.
func extend(t scalar) one {
	shift := 64 - t.bits
	if t.kind == signed {
		return func(a uint64) uint64 { return uint64(int64(a<<shift) >> shift) }
	}
	return func(a uint64) uint64 { return a << shift >> shift }
}

package sim

import "math/bits"

var bitTypes = []string{"pred", "b16", "b32", "b64"}

// logic compiles and, or and xor.
func (c *compiler) logic() execute {
	t := c.typ(bitTypes...)
	f := map[string]two{
		"and": func(a, b uint64) uint64 { return a & b },
		"or":  func(a, b uint64) uint64 { return a | b },
		"xor": func(a, b uint64) uint64 { return a ^ b },
	}[c.in.name]
	if t != pred {
		return c.binary(t, t, t, f)
	}
	if !c.operands(3) {
		return nil
	}
	d, a, b := c.toPredicate(c.operand(0)), c.condition(1), c.condition(2)
	return func(w *warp, lanes uint32) error {
		w.setPredicate(d, lanes, uint32(f(uint64(a.holds(w)), uint64(b.holds(w)))))
		return nil
	}
}

func (c condition) holds(w *warp) uint32 {
	if c.negated {
		return ^w.predicates[c.predicate]
	}
	return w.predicates[c.predicate]
}

func (w *warp) setPredicate(d int, lanes, value uint32) {
	w.predicates[d] = w.predicates[d]&^lanes | value&lanes
}

func (c *compiler) not() execute {
	t := c.typ(bitTypes...)
	if t != pred {
		return c.unary(t, t, func(a uint64) uint64 { return ^a })
	}
	if !c.operands(2) {
		return nil
	}
	d, a := c.toPredicate(c.operand(0)), c.condition(1)
	return func(w *warp, lanes uint32) error {
		w.setPredicate(d, lanes, ^a.holds(w))
		return nil
	}
}

// shift compiles shl and shr. A shift by the register's size or more leaves zeros, or the sign.
func (c *compiler) shift() execute {
	if c.in.name == "shl" {
		t := c.typ("b16", "b32", "b64")
		return c.binary(t, t, u32, func(a, n uint64) uint64 { return a << n })
	}
	t := c.typ(append([]string{"b16", "b32", "b64"}, integers...)...)
	if t.kind != signed {
		return c.binary(t, t, u32, func(a, n uint64) uint64 { return a >> n })
	}
	value := extend(t)
	return c.binary(t, t, u32, func(a, n uint64) uint64 { return uint64(int64(value(a)) >> n) })
}

// funnelShift shifts the 64 bits of two registers, the low one first. It keeps the upper half of
// the result (left) or the lower half (right).
func (c *compiler) funnelShift() execute {
	left := c.oneOf("l", "r") == "l"
	clamp := c.oneOf("wrap", "clamp") == "clamp"
	t := c.typ("b32")
	return c.ternary(t, t, t, u32, func(low, high, n uint64) uint64 {
		if clamp {
			n = min(n, 32)
		} else {
			n &= 31
		}
		whole := high<<32 | low
		if left {
			return whole << n >> 32
		}
		return whole >> n
	})
}

// logicOfThree compiles lop3, any function of three bits: bit 4a+2b+c of its table.
func (c *compiler) logicOfThree() execute {
	t := c.typ("b32")
	if !c.operands(5) {
		return nil
	}
	table := c.immediate(4)
	return eachThree(c.to(0, t), c.from(1, t), c.from(2, t), c.from(3, t), t.mask(),
		func(x, y, z uint64) uint64 {
			var result uint64
			for i := range 8 {
				if table>>i&1 == 0 {
					continue
				}
				term := ^uint64(0)
				for bit, v := range [3]uint64{z, y, x} {
					if i>>bit&1 == 1 {
						term &= v
					} else {
						term &^= v
					}
				}
				result |= term
			}
			return result
		})
}

// immediate is the value of operand i, which must be a number.
func (c *compiler) immediate(i int) uint64 {
	o := c.operand(i)
	if o.kind != integerOperand {
		c.fail("operand %d, %s, has to be a number", i+1, o.text)
	}
	return o.value
}

// permuteBytes picks four of eight bytes. If bit 3 of a selector is set, the picked byte is replaced by
// eight copies of its sign bit.
func (c *compiler) permuteBytes() execute {
	t := c.typ("b32")
	return c.ternary(t, t, t, t, func(a, b, selectors uint64) uint64 {
		whole := b<<32 | a
		var result uint64
		for i := range 4 {
			s := selectors >> (4 * i) & 15
			v := whole >> (8 * (s & 7)) & 0xff
			if s&8 != 0 {
				v = uint64(int8(v)>>7) & 0xff
			}
			result |= v << (8 * i)
		}
		return result
	})
}

// count compiles popc and clz.
func (c *compiler) count() execute {
	t := c.typ("b32", "b64")
	if c.in.name == "popc" {
		return c.unary(u32, t, func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) })
	}
	return c.unary(u32, t, func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a) - 64 + t.bits) })
}

func (c *compiler) reverseBits() execute {
	t := c.typ("b32", "b64")
	return c.unary(t, t, func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - t.bits) })
}

func (c *compiler) extractBits() execute {
	t := c.typ("u32", "s32", "u64", "s64")
	value := extend(t)
	return c.ternary(t, t, u32, u32, func(a, from, length uint64) uint64 {
		from, length = from&0xff, length&0xff
		if length == 0 {
			return 0
		}
		x := value(a)
		if t.kind == unsigned {
			return x >> from & (1<<length - 1)
		}
		// Bits beyond the register repeat its sign. The sign of the field is its last bit inside the
		// register.
		x = uint64(int64(x) >> min(from, 63))
		if length >= 64 {
			return x
		}
		return uint64(int64(x<<(64-length)) >> (64 - length))
	})
}

// insertBits puts the low bits of the first operand into the second.
func (c *compiler) insertBits() execute {
	t := c.typ("b32", "b64")
	if !c.operands(5) {
		return nil
	}
	d, a, b, from, length := c.to(0, t), c.from(1, t), c.from(2, t), c.from(3, u32), c.from(4, u32)
	return func(w *warp, lanes uint32) error {
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			at := w.registers[from][l] & 0xff
			field := (uint64(1)<<(w.registers[length][l]&0xff) - 1) << at
			w.registers[d][l] = (w.registers[b][l]&^field | w.registers[a][l]<<at&field) & t.mask()
		}
		return nil
	}
}

// findBit is the position of the highest bit that is not a sign bit; with .shiftamt, the shift to the left that
// makes it the top bit. If all bits are sign bits or 0, the result is all ones.
func (c *compiler) findBit() execute {
	amount := c.take("shiftamt")
	t := c.typ("u32", "s32", "u64", "s64")
	value := extend(t)
	return c.unary(u32, t, func(a uint64) uint64 {
		x := value(a)
		if t.kind == signed && int64(x) < 0 {
			x = ^x
		}
		if x == 0 {
			return ^uint64(0)
		}
		if amount {
			return uint64(bits.LeadingZeros64(x) - 64 + t.bits)
		}
		return uint64(63 - bits.LeadingZeros64(x))
	})
}

// dotOfFour adds the products of four pairs of bytes.
func (c *compiler) dotOfFour() execute {
	left, right := c.typ("u32", "s32"), c.typ("u32", "s32")
	result := s32
	if left.kind == unsigned && right.kind == unsigned {
		result = u32
	}
	x, y := extend(scalar{left.kind, 8}), extend(scalar{right.kind, 8})
	return c.ternary(result, left, right, result, func(a, b, sum uint64) uint64 {
		for i := range 4 {
			sum += x(a>>(8*i)) * y(b>>(8*i))
		}
		return sum
	})
}

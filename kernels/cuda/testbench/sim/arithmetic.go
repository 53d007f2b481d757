package sim

import (
	"math"
	"math/bits"
)

var (
	integers = []string{"s16", "u16", "s32", "u32", "s64", "u64"}
	floats   = []string{"f32", "f64"}
)

// arithmetic compiles add and sub.
func (c *compiler) arithmetic() execute {
	subtract := c.in.name == "sub"
	if c.nextIs(integers...) {
		t := c.typ(integers...)
		if subtract {
			return c.binary(t, t, t, func(a, b uint64) uint64 { return a - b })
		}
		return c.binary(t, t, t, func(a, b uint64) uint64 { return a + b })
	}
	c.explicit()
	switch t := c.typ(floats...); {
	case t == f32 && subtract:
		return c.binary(t, t, t, func(a, b uint64) uint64 { return bits32(number32(a) - number32(b)) })
	case t == f32:
		return c.binary(t, t, t, func(a, b uint64) uint64 { return bits32(number32(a) + number32(b)) })
	case subtract:
		return c.binary(t, t, t, func(a, b uint64) uint64 { return bits64(number64(a) - number64(b)) })
	default:
		return c.binary(t, t, t, func(a, b uint64) uint64 { return bits64(number64(a) + number64(b)) })
	}
}

// explicit reads the rounding .rn of a floating-point sum or product. It refuses an instruction
// without .rn, because the driver may fuse that with another instruction.
func (c *compiler) explicit() {
	if c.nextIs("f32", "f64") {
		c.fail("without .rn a GPU may fuse a product and a sum; compile with -ffp-contract=off")
		return
	}
	c.need("rn")
}

func (c *compiler) multiply() execute {
	if !c.nextIs("lo", "hi", "wide") {
		c.explicit()
		t := c.typ(floats...)
		if t == f32 {
			return c.binary(t, t, t, func(a, b uint64) uint64 { return bits32(number32(a) * number32(b)) })
		}
		return c.binary(t, t, t, func(a, b uint64) uint64 { return bits64(number64(a) * number64(b)) })
	}
	result, t, f := c.product()
	return c.binary(result, t, t, f)
}

// product reads .lo, .hi or .wide, and the type of an integer product. It returns the type of the
// result, the type t of both factors, and the function; f is nil after an error.
func (c *compiler) product() (result, t scalar, f two) {
	part := c.oneOf("lo", "hi", "wide")
	t = c.typ(integers...)
	value := extend(t)
	switch {
	case part == "lo":
		return t, t, func(a, b uint64) uint64 { return a * b }
	case part == "wide" && t.bits == 64:
		c.unknown()
		return t, t, nil
	case part == "wide":
		return scalar{t.kind, 2 * t.bits}, t, func(a, b uint64) uint64 { return value(a) * value(b) }
	case t.bits < 64:
		n := t.bits
		return t, t, func(a, b uint64) uint64 { return value(a) * value(b) >> n }
	case t.kind == unsigned:
		return t, t, func(a, b uint64) uint64 { high, _ := bits.Mul64(a, b); return high }
	}
	return t, t, func(a, b uint64) uint64 {
		high, _ := bits.Mul64(a, b)
		return high - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
	}
}

// multiplyAdd compiles mad for integers and fma for floats.
func (c *compiler) multiplyAdd() execute {
	if c.in.name == "mad" {
		result, t, f := c.product()
		if f == nil {
			return nil
		}
		return c.ternary(result, t, t, result, func(a, b, sum uint64) uint64 { return f(a, b) + sum })
	}
	c.need("rn")
	t := c.typ(floats...)
	if t == f32 {
		return c.ternary(t, t, t, t, func(a, b, sum uint64) uint64 {
			return bits32(fuse(number32(a), number32(b), number32(sum)))
		})
	}
	return c.ternary(t, t, t, t, func(a, b, sum uint64) uint64 {
		return bits64(math.FMA(number64(a), number64(b), number64(sum)))
	})
}

func (c *compiler) divide() execute {
	if c.nextIs(integers...) {
		t := c.typ(integers...)
		value := extend(t)
		if t.kind == unsigned {
			return c.binary(t, t, t, func(a, b uint64) uint64 {
				if b == 0 {
					return ^uint64(0) // as on hardware
				}
				return a / b
			})
		}
		return c.binary(t, t, t, func(a, b uint64) uint64 {
			if b == 0 {
				return ^uint64(0)
			}
			return uint64(int64(value(a)) / int64(value(b)))
		})
	}
	c.need("rn")
	t := c.typ(floats...)
	if t == f32 {
		return c.binary(t, t, t, func(a, b uint64) uint64 { return bits32(number32(a) / number32(b)) })
	}
	return c.binary(t, t, t, func(a, b uint64) uint64 { return bits64(number64(a) / number64(b)) })
}

func (c *compiler) remainder() execute {
	t := c.typ(integers...)
	value := extend(t)
	return c.binary(t, t, t, func(a, b uint64) uint64 {
		switch {
		case b == 0:
			return a
		case t.kind == unsigned:
			return a % b
		}
		return uint64(int64(value(a)) % int64(value(b)))
	})
}

// extreme compiles min and max. For floats, a number wins over NaN, and −0 is less than +0.
func (c *compiler) extreme() execute {
	greatest := c.in.name == "max"
	if !c.nextIs(floats...) {
		t := c.typ(integers...)
		value := extend(t)
		return c.binary(t, t, t, func(a, b uint64) uint64 {
			less := a < b
			if t.kind == signed {
				less = int64(value(a)) < int64(value(b))
			}
			if less == greatest {
				return b
			}
			return a
		})
	}
	t := c.typ(floats...)
	number, back := number64, bits64
	if t == f32 {
		number = func(a uint64) float64 { return float64(number32(a)) }
		back = func(x float64) uint64 { return bits32(float32(x)) }
	}
	pick := math.Min
	if greatest {
		pick = math.Max
	}
	return c.binary(t, t, t, func(a, b uint64) uint64 {
		x, y := number(a), number(b)
		switch {
		case x != x:
			return back(y)
		case y != y:
			return back(x)
		}
		return back(pick(x, y))
	})
}

func (c *compiler) negate() execute {
	if c.nextIs(floats...) {
		t := c.typ(floats...)
		sign := uint64(1) << (t.bits - 1)
		return c.unary(t, t, func(a uint64) uint64 { return a ^ sign })
	}
	t := c.typ("s16", "s32", "s64")
	return c.unary(t, t, func(a uint64) uint64 { return -a })
}

func (c *compiler) absolute() execute {
	if c.nextIs(floats...) {
		t := c.typ(floats...)
		sign := uint64(1) << (t.bits - 1)
		return c.unary(t, t, func(a uint64) uint64 { return a &^ sign })
	}
	t := c.typ("s16", "s32", "s64")
	value := extend(t)
	return c.unary(t, t, func(a uint64) uint64 {
		if x := value(a); int64(x) < 0 {
			return -x
		}
		return a
	})
}

func (c *compiler) root() execute {
	c.need("rn")
	t := c.typ(floats...)
	// The root is computed in double precision. Rounding it again to single precision gives the same
	// as rounding the exact root once.
	if t == f32 {
		return c.unary(t, t, func(a uint64) uint64 { return bits32(float32(math.Sqrt(float64(number32(a))))) })
	}
	return c.unary(t, t, func(a uint64) uint64 { return bits64(math.Sqrt(number64(a))) })
}

func (c *compiler) reciprocal() execute {
	c.need("rn")
	t := c.typ(floats...)
	if t == f32 {
		return c.unary(t, t, func(a uint64) uint64 { return bits32(1 / number32(a)) })
	}
	return c.unary(t, t, func(a uint64) uint64 { return bits64(1 / number64(a)) })
}

// copySign gives the second operand the sign of the first.
func (c *compiler) copySign() execute {
	t := c.typ(floats...)
	sign := uint64(1) << (t.bits - 1)
	return c.binary(t, t, t, func(a, b uint64) uint64 { return a&sign | b&^sign })
}

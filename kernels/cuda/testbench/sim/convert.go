package sim

import (
	"math"
	"slices"
)

var (
	narrowInts  = []string{"s8", "u8"}
	convertible = slices.Concat(narrowInts, integers, []string{"f16", "bf16"}, floats)
)

// convert compiles cvt. Between integers the value is cut or extended. The register on either side
// may be larger than the type.
func (c *compiler) convert() execute {
	rounding := ""
	if c.nextIs("rn", "rz", "rni", "rzi", "rmi", "rpi") {
		rounding = c.oneOf("rn", "rz", "rni", "rzi", "rmi", "rpi")
	}
	saturate := c.take("sat")
	if c.nextIs("f16x2", "bf16x2") {
		return c.convertPair(rounding)
	}
	to, from := c.typ(convertible...), c.typ(convertible...)
	if !c.operands(2) {
		return nil
	}
	d, a := c.toWide(0, to), c.fromWide(1, from)
	var f one
	switch isFloat(to, from) {
	case [2]bool{false, false}:
		c.roundingIs(rounding, "")
		f = integerToInteger(to, from, saturate)
	case [2]bool{true, false}:
		c.roundingIs(rounding, "rn")
		f = integerToFloat(to, from)
	case [2]bool{false, true}:
		c.roundingIs(rounding, "rni", "rzi", "rmi", "rpi")
		f = floatToInteger(to, from, rounding)
	default:
		f = c.floatToFloat(to, from, rounding)
	}
	if saturate && isFloat(to, from)[0] {
		c.fail("saturating to a float is not known to the simulator")
	}
	if o := c.operand(0); o.kind == registerOperand && o.scalar.bits > to.bits {
		inner, extended := f, extend(to)
		f = func(a uint64) uint64 { return extended(inner(a)) }
		return eachOne(d, a, o.scalar.mask(), f)
	}
	return eachOne(d, a, to.mask(), f)
}

func isFloat(to, from scalar) [2]bool {
	return [2]bool{to.kind == float || to.kind == bfloat, from.kind == float || from.kind == bfloat}
}

func (c *compiler) roundingIs(r string, allowed ...string) {
	if !slices.Contains(allowed, r) {
		c.fail("rounding %q of %s is not known to the simulator; allowed: %q", r, c.in.fullName(), allowed)
	}
}

func integerToInteger(to, from scalar, saturate bool) one {
	value := extend(from)
	if !saturate {
		return value
	}
	return func(a uint64) uint64 {
		x := value(a)
		switch {
		case from.kind == signed && to.kind == unsigned:
			if int64(x) < 0 {
				return 0
			}
			return min(x, to.mask())
		case from.kind == signed:
			return uint64(min(max(int64(x), -1<<(to.bits-1)), 1<<(to.bits-1)-1))
		case to.kind == signed:
			return min(x, to.mask()>>1)
		}
		return min(x, to.mask())
	}
}

func integerToFloat(to, from scalar) one {
	value := extend(from)
	return func(a uint64) uint64 {
		x := value(a)
		switch {
		case to == f32 && from.kind == signed:
			return bits32(float32(int64(x)))
		case to == f32:
			return bits32(float32(x))
		case to.bits == 64 && from.kind == signed:
			return bits64(float64(int64(x)))
		case to.bits == 64:
			return bits64(float64(x))
		}
		// An integer of more than 53 bits would be rounded twice, but in half precision it is
		// infinite anyway.
		if from.kind == signed {
			return narrowTo(to, float64(int64(x)))
		}
		return narrowTo(to, float64(x))
	}
}

func widen(t scalar) func(uint64) float64 {
	switch {
	case t.kind == bfloat:
		return func(a uint64) float64 { return float64(widenBfloat(uint16(a))) }
	case t.bits == 16:
		return func(a uint64) float64 { return float64(widenHalf(uint16(a))) }
	case t.bits == 32:
		return func(a uint64) float64 { return float64(number32(a)) }
	}
	return number64
}

func narrowTo(t scalar, x float64) uint64 {
	switch {
	case t.kind == bfloat:
		return narrowBfloat(x)
	case t.bits == 16:
		return narrowHalf(x)
	case t.bits == 32:
		return bits32(float32(x))
	}
	return bits64(x)
}

func whole(rounding string) func(float64) float64 {
	return map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor,
		"rpi": math.Ceil}[rounding]
}

// floatToInteger clamps what is out of range, and makes NaN 0.
func floatToInteger(to, from scalar, rounding string) one {
	wide, round := widen(from), whole(rounding)
	return func(a uint64) uint64 {
		x := wide(a)
		if x != x {
			return 0
		}
		x = round(x)
		if to.kind == unsigned {
			switch {
			case x <= 0:
				return 0
			case x >= math.Ldexp(1, to.bits):
				return to.mask()
			}
			return uint64(x)
		}
		limit := math.Ldexp(1, to.bits-1)
		switch {
		case x >= limit:
			return to.mask() >> 1
		case x < -limit:
			return 1 << (to.bits - 1)
		}
		return uint64(int64(x))
	}
}

func (c *compiler) floatToFloat(to, from scalar, rounding string) one {
	wide := widen(from)
	switch {
	case to == from:
		c.roundingIs(rounding, "rni", "rzi", "rmi", "rpi")
		if round := whole(rounding); round != nil {
			return func(a uint64) uint64 { return narrowTo(to, round(wide(a))) }
		}
	case to.bits > from.bits:
		c.roundingIs(rounding, "")
	default:
		c.roundingIs(rounding, "rn")
	}
	return func(a uint64) uint64 { return narrowTo(to, wide(a)) }
}

// convertPair packs two floats; the first operand becomes the upper half.
func (c *compiler) convertPair(rounding string) execute {
	narrow := narrowHalf
	if c.oneOf("f16x2", "bf16x2") == "bf16x2" {
		narrow = narrowBfloat
	}
	c.need("f32")
	c.roundingIs(rounding, "rn")
	return c.binary(b32, f32, f32, func(high, low uint64) uint64 {
		return narrow(float64(number32(high)))<<16 | narrow(float64(number32(low)))
	})
}

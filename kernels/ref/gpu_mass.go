package ref

import (
	"math"
	"math/bits"
)

// This file defines the integers that stand for weights when the GPU adds and compares them. Sums of
// integers are exact, so they do not depend on the order in which threads add. And graphics cards
// for games compute with integers much faster than with float64.

// Mass returns a weight, which is at most 1, in units of 2^-unit, rounded down.
func Mass(weight float32, unit int) uint64 {
	mantissa, exponent := split(weight)
	if shift := exponent + unit; shift >= 0 {
		return mantissa << shift
	} else {
		return mantissa >> -shift
	}
}

// split returns a number ≥ 0 as mantissa · 2^exponent. Zero and subnormal numbers become some number below
// 2^-126, which Mass rounds down to 0.
func split(v float32) (mantissa uint64, exponent int) {
	u := math.Float32bits(v)
	return uint64(u&0x7fffff | 0x800000), int(u>>23) - 150
}

// massUnit is the unit of the masses of a row, as Mass takes it. It is the finest unit with which vocab
// weights of 1 have a sum below 2^63.
func massUnit(vocab int) int { return 63 - bits.Len(uint(vocab)) }

// shareOf returns share · all, rounded down. share is below 1.
func shareOf(share float32, all uint64) uint64 {
	mantissa, exponent := split(share)
	x := product(mantissa, all)
	if down := -exponent; down < 64 {
		return x.high<<(64-down) | x.low>>down
	} else {
		return x.high >> (down - 64)
	}
}

// wide is an integer of 128 bits.
type wide struct{ high, low uint64 }

func (a wide) plus(b wide) wide {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, _ := bits.Add64(a.high, b.high, carry)
	return wide{high, low}
}

func (a wide) minus(b wide) wide {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	high, _ := bits.Sub64(a.high, b.high, borrow)
	return wide{high, low}
}

func (a wide) less(b wide) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

func product(a, b uint64) wide {
	high, low := bits.Mul64(a, b)
	return wide{high, low}
}

// uniformBits is the number of bits of a uniform. A uniform u stands for u / 2^uniformBits.
const uniformBits = 53

// share returns total · u / 2^uniformBits, rounded down: less than total, if total is not 0. total is
// below 2^127.
func share(u uint64, total wide) wide {
	low, high := product(u, total.low), product(u, total.high)
	middle, carry := bits.Add64(low.high, high.low, 0)
	top := high.high + carry
	return wide{top<<(64-uniformBits) | middle>>uniformBits, middle<<(64-uniformBits) | low.low>>uniformBits}
}

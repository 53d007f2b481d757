package constrain

import (
	"fmt"
	"strconv"
	"strings"
)

// The largest number of digits before and after the point of a number. A float64, which most readers of
// JSON use, holds each integer of 15 digits exactly.
const (
	wholeDigits    = 15
	fractionDigits = 15
	maxWhole       = 1e15 - 1 // the largest integer of wholeDigits digits
)

func digit(g *grammar, lo, hi byte) expr {
	var set byteSet
	set.addRange(lo, hi)
	return g.oneOf(set)
}

func digits(g *grammar, low, high int32) expr { return g.repeat(digit(g, '0', '9'), low, high) }

func anyNumber(g *grammar) expr {
	sign := g.optional(g.literal("-"))
	exponent := g.seq(g.alt(g.literal("e"), g.literal("E")), g.optional(g.alt(g.literal("+"), g.literal("-"))), digits(g, 1, 2))
	return g.label(g.seq(sign, wholeRange(g, 0, maxWhole), fraction(g), g.optional(exponent)), "a number")
}

func fraction(g *grammar) expr {
	return g.optional(g.seq(g.literal("."), digits(g, 1, fractionDigits)))
}

// interval is the range of numbers from lo to hi. An end that is open does not belong to the range.
type interval struct {
	lo, hi         int64
	openLo, openHi bool
}

// number matches a number or integer within bounds.
func (s *schema) number(v value, at string, whole bool) (expr, error) {
	r := interval{lo: -maxWhole, hi: maxWhole}
	bounded := false
	for _, key := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
		given, ok := v.get(key)
		if !ok {
			continue
		}
		n, err := wholeNumber(given)
		if err != nil {
			return never, fmt.Errorf("%s/%s: only whole numbers of up to %d digits are supported as bounds, got %.64s", at, key, wholeDigits, given.json())
		}
		bounded = true
		b, open := n.Int64(), strings.HasPrefix(key, "exclusive")
		if strings.HasSuffix(strings.ToLower(key), "minimum") {
			if b > r.lo || b == r.lo && open {
				r.lo, r.openLo = b, open
			}
		} else if b < r.hi || b == r.hi && open {
			r.hi, r.openHi = b, open
		}
	}
	var e expr
	switch {
	case whole:
		e = s.g.label(wholes(s.g, r), "an integer")
	case !bounded:
		return anyNumber(s.g), nil
	default:
		e = s.g.label(decimals(s.g, r), "a number")
	}
	if e == never {
		return never, fmt.Errorf("%s: no number is within minimum and maximum", at)
	}
	return e, nil
}

// wholes matches the integers of an interval.
func wholes(g *grammar, r interval) expr {
	if r.openLo {
		r.lo++
	}
	if r.openHi {
		r.hi--
	}
	return g.alt(wholeRange(g, max(r.lo, 0), r.hi), g.seq(g.literal("-"), wholeRange(g, max(1, -r.hi), -r.lo)))
}

// decimals matches the numbers of an interval, without exponents.
func decimals(g *grammar, r interval) expr {
	positive, negative := r, interval{lo: -r.hi, hi: -r.lo, openLo: r.openHi, openHi: r.openLo}
	parts := []expr{}
	for i, half := range []interval{positive, negative} {
		if half.lo < 0 {
			half.lo, half.openLo = 0, false
		}
		e := fromZero(g, half)
		if i == 1 {
			e = g.seq(g.literal("-"), e)
		}
		parts = append(parts, e)
	}
	return g.alt(parts...)
}

// fromZero matches the numbers of an interval that begins at 0 or above. It joins up to three parts:
//   - r.lo with a fraction above zero, if that end is open;
//   - the integers from r.lo, or r.lo+1 if that end is open, to r.hi−1, with any fraction;
//   - r.hi without a fraction, or with zeros after the point, if that end is not open.
func fromZero(g *grammar, r interval) expr {
	if r.lo > r.hi {
		return never
	}
	first := r.lo
	e := never
	if r.openLo {
		first++
		if r.lo < r.hi {
			nonzero := g.seq(digits(g, 0, fractionDigits-1), digit(g, '1', '9'))
			e = g.seq(g.literal(strconv.FormatInt(r.lo, 10)+"."), nonzero)
		}
	}
	e = g.alt(e, g.seq(wholeRange(g, first, r.hi-1), fraction(g)))
	if !r.openHi && r.hi >= first {
		zeros := g.seq(g.literal("."), g.repeat(g.literal("0"), 1, fractionDigits))
		e = g.alt(e, g.seq(g.literal(strconv.FormatInt(r.hi, 10)), g.optional(zeros)))
	}
	return e
}

// wholeRange matches the integers from lo ≥ 0 to hi, without leading zeros.
func wholeRange(g *grammar, lo, hi int64) expr {
	if lo > hi {
		return never
	}
	if lo == 0 && hi == maxWhole {
		return g.alt(g.literal("0"), g.seq(digit(g, '1', '9'), digits(g, 0, wholeDigits-1)))
	}
	e := never
	for low, n := int64(0), int64(10); low <= hi; low, n = n, n*10 {
		if from, to := max(lo, low), min(hi, n-1); from <= to {
			e = g.alt(e, sameLength(g, strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)))
		}
	}
	return e
}

// sameLength matches the strings of digits from lo to hi. lo and hi have the same length.
func sameLength(g *grammar, lo, hi string) expr {
	if lo == "" {
		return empty
	}
	rest := len(lo) - 1
	if lo[1:] == strings.Repeat("0", rest) && hi[1:] == strings.Repeat("9", rest) {
		return g.seq(digit(g, lo[0], hi[0]), digits(g, int32(rest), int32(rest)))
	}
	if lo[0] == hi[0] {
		return g.seq(g.literal(lo[:1]), sameLength(g, lo[1:], hi[1:]))
	}
	return g.alt(
		g.seq(g.literal(lo[:1]), sameLength(g, lo[1:], strings.Repeat("9", rest))),
		g.seq(digit(g, lo[0]+1, hi[0]-1), digits(g, int32(rest), int32(rest))),
		g.seq(g.literal(hi[:1]), sameLength(g, strings.Repeat("0", rest), hi[1:])))
}

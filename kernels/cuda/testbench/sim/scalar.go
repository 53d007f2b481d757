package sim

import "fmt"

type kind byte

const (
	untyped   kind = 'b' // bits without a meaning
	unsigned  kind = 'u'
	signed    kind = 's'
	float     kind = 'f'
	bfloat    kind = 'h'
	pairOf    kind = 'x' // two floats of 16 bits
	predicate kind = 'p'
)

// scalar is a fundamental type of PTX.
type scalar struct {
	kind kind
	bits int
}

var (
	b32  = scalar{untyped, 32}
	u32  = scalar{unsigned, 32}
	s32  = scalar{signed, 32}
	u64  = scalar{unsigned, 64}
	f32  = scalar{float, 32}
	pred = scalar{predicate, 1}
)

var scalars = map[string]scalar{
	"pred": pred, "b8": {untyped, 8}, "b16": {untyped, 16}, "b32": b32, "b64": {untyped, 64},
	"u8": {unsigned, 8}, "u16": {unsigned, 16}, "u32": u32, "u64": u64,
	"s8": {signed, 8}, "s16": {signed, 16}, "s32": s32, "s64": {signed, 64},
	"f16": {float, 16}, "f32": f32, "f64": {float, 64}, "bf16": {bfloat, 16}, "f16x2": {pairOf, 32},
}

func (s scalar) String() string {
	switch s.kind {
	case predicate:
		return ".pred"
	case bfloat:
		return ".bf16"
	case pairOf:
		return ".f16x2"
	}
	return fmt.Sprintf(".%c%d", s.kind, s.bits)
}

func (s scalar) bytes() int { return max(s.bits, 8) / 8 }

func (s scalar) integer() bool { return s.kind == unsigned || s.kind == signed }

// mask has a one for each bit of the type.
func (s scalar) mask() uint64 { return ^uint64(0) >> (64 - s.bits) }

// meaning reports whether a register of type s may hold a value of type t, whatever their sizes. Untyped
// bits go with everything but predicates. Signs do not matter. Integers and floats do not go together, except
// that an integer register may hold .bf16 and .f16x2.
func (s scalar) meaning(t scalar) bool {
	if s.kind == predicate || t.kind == predicate {
		return s.kind == t.kind
	}
	return s.kind == untyped || t.kind == untyped || s.integer() && t.integer() || s.kind == t.kind ||
		s.integer() && (t.kind == bfloat || t.kind == pairOf)
}

package cpu

// Number is a type of weights that are multiplied as float32. The zero Number is none.
type Number struct {
	*numberType
}

// The types that have a product.
var (
	F32  = Number{&numberType{"F32", 4, DequantizeF32}}
	F16  = Number{&numberType{"F16", 2, DequantizeF16}}
	BF16 = Number{&numberType{"BF16", 2, DequantizeBF16}}
)

type numberType struct {
	name  string
	bytes int
	widen func(dst []float32, src []byte)
}

func (n Number) String() string { return n.name }

// Bytes is the size of a number.
func (n Number) Bytes() int { return n.bytes }

// Dequantize widens len(dst) numbers, exactly.
func (n Number) Dequantize(dst []float32, src []byte) { n.widen(dst, src) }

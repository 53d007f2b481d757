package cpu

// Number is a weight type that is multiplied as float32. The zero Number is invalid.
type Number struct {
	*numberType
}

// The supported types.
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

// Bytes returns the size of one number.
func (n Number) Bytes() int { return n.bytes }

// Dequantize converts len(dst) numbers to float32, which is exact.
func (n Number) Dequantize(dst []float32, src []byte) { n.widen(dst, src) }

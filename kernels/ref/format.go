package ref

import "specula/kernels/format"

// Format is a way to store weights as integers with scales. Package format reads the quants of its
// blocks; the tests compare the weights with another implementation, gguf-py.
type Format struct{ *format.Format }

// The formats that code names.
var (
	Q8_0 = Format{format.Find(format.Q8_0)}
	Q4_K = Format{format.Find(format.Q4_K)}
	Q6_K = Format{format.Find(format.Q6_K)}
)

// Formats returns all formats.
func Formats() []Format {
	var all []Format
	for _, f := range format.Quantised() {
		all = append(all, Format{f})
	}
	return all
}

// FormatOf returns the format with this number in GGUF.
func FormatOf(number uint32) (f Format, ok bool) {
	found := format.Find(number)
	return Format{found}, found != nil && found.Quants != nil
}

// unpack returns the 32 weights of a block from number 32·part on, as scale·quants + min. Where
// each 16 weights have an integer scale, it is already multiplied into the quants.
func (f Format) unpack(block []byte, part int) (scale, min float32, quants [Block]int32) {
	var stored [Block]uint8
	f.Unpack(&stored, block, part)
	for k, quant := range stored {
		quants[k] = int32(quant) - int32(f.Bias)
		if f.Halves() {
			quants[k] *= int32(int8(block[f.FactorsAt+2*part+k/16]))
		}
	}
	scale = half(block[f.Scale], block[f.Scale+1])
	if f.Mins() {
		min = half(block[f.Min], block[f.Min+1])
	}
	if f.Factors == format.SixBits {
		s, m := format.UnpackSixBits(block[f.FactorsAt:], part)
		scale, min = scale*float32(s), -min*float32(m)
	}
	return scale, min, quants
}

// Dequantize decodes blocks: scale·quant, plus min where the format has minima. Each operation is
// rounded to float32.
func (f Format) Dequantize(dst []float32, src []byte) {
	parts := f.BlockElements / Block
	for i := range len(dst) / Block {
		scale, min, quants := f.unpack(src[i/parts*f.BlockBytes:], i%parts)
		for k, q := range quants {
			dst[i*Block+k] = scale * float32(q)
			if f.Mins() {
				dst[i*Block+k] += min
			}
		}
	}
}

package ref

import (
	"math"

	"specula/kernels/format"
)

// Format is a way to store weights as integers with scales. Package format reads the quants of
// blocks; the tests compare the weights with those of another implementation, ggml.
type Format struct{ *format.Format }

// Q8_0 is the format that QuantizeQ8_0 writes.
var Q8_0 = Format{format.Find(format.Q8_0)}

// Formats returns all formats.
func Formats() []Format {
	var all []Format
	for _, f := range format.Quantised() {
		all = append(all, Format{f})
	}
	return all
}

// FormatOf returns the format with this number in GGUF. ok is false if no quantised format has it.
func FormatOf(number uint32) (f Format, ok bool) {
	found := format.Find(number)
	return Format{found}, found != nil && found.Quants != nil
}

// part is 32 weights of a block. Weight k is scales[k/16]·quants[k] + mins[k/16]·min. The block's integer
// factors are multiplied into these already.
type part struct {
	quants [Block]int32
	scales [2]float32
	min    float32
	mins   [2]int32 // factors of the minimum
}

// unpackRow returns the first parts of a row of blocks, as many as parts says.
func (f Format) unpackRow(row []byte, parts int) []part {
	list, perBlock := make([]part, parts), f.BlockElements/Block
	for i := range list {
		list[i] = f.unpack(row[i/perBlock*f.BlockBytes:], i%perBlock)
	}
	return list
}

// unpack returns the part of a block that begins with weight 32·number of the block.
func (f Format) unpack(block []byte, number int) part {
	var s format.Share
	f.Read(&s, block, number)
	p := part{mins: [2]int32{1, 1}}
	for k, quant := range s.Quants {
		p.quants[k] = f.Value(quant)
		switch factor := s.Factors[k/16]; {
		case f.Factors == format.Nibbles:
			p.quants[k] *= int32(factor & 15)
		case f.Halves():
			p.quants[k] *= int32(int8(factor))
		}
	}
	scale := widen(s.Scale) * f.UnitOf()
	if f.ScaleKind == format.Exponent {
		scale = math.Float32frombits(uint32(s.Scale) << 16)
	}
	switch {
	case f.Factors == format.SixBits:
		scale *= float32(s.Factors[0])
	case f.OneFactor():
		scale *= float32(int8(s.Factors[0]))
	}
	p.scales = [2]float32{scale, scale}
	switch {
	case f.Factors == format.HalfScales:
		p.scales[1] = widen(s.Min)
	case f.Factors == format.SixBits:
		p.min = -widen(s.Min) * float32(s.Factors[1])
	case f.Factors == format.Nibbles:
		p.min, p.mins = widen(s.Min), [2]int32{-int32(s.Factors[0] >> 4), -int32(s.Factors[1] >> 4)}
	case f.Mins():
		p.min = widen(s.Min)
	}
	return p
}

func widen(bits uint16) float32 { return half(byte(bits), byte(bits>>8)) }

// Dequantize decodes blocks: scale·quant, plus the minimum if the format has minima. Each operation is
// rounded to float32.
func (f Format) Dequantize(dst []float32, src []byte) {
	parts := f.BlockElements / Block
	for i := range len(dst) / Block {
		p := f.unpack(src[i/parts*f.BlockBytes:], i%parts)
		for k, q := range p.quants {
			dst[i*Block+k] = p.scales[k/16] * float32(q)
			if f.Mins() {
				dst[i*Block+k] += p.min * float32(p.mins[k/16])
			}
		}
	}
}

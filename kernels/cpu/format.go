package cpu

import (
	"math"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

// Format is a way to store weights as integers with scales, with the names of GGUF. The zero Format
// is invalid.
type Format struct{ layout.Panel }

// FormatOf returns the format with this number in GGUF. ok is false if no quantised format has it.
func FormatOf(number uint32) (f Format, ok bool) {
	found := format.Find(number)
	return Format{layout.Panel{Format: found}}, found != nil && found.Quants != nil
}

// scaleAndMin returns the scale and the minimum of a tile's weights: weight = scale·(quant − bias) +
// min. Integer factors of the halves are not included. In a format with a scale for each half, min
// is the second half's scale.
func (f Format) scaleAndMin(s *format.Share) (scale, min float32) {
	scale = half(s.Scale) * f.UnitOf()
	if f.ScaleKind == format.Exponent {
		scale = math.Float32frombits(uint32(s.Scale) << 16)
	}
	if f.Mins() || f.TwoScales() {
		min = half(s.Min)
	}
	switch {
	case f.OneFactor():
		scale *= float32(int8(s.Factors[0]))
	case f.Factors == format.SixBits:
		scale *= float32(s.Factors[0])
		min *= -float32(s.Factors[1])
	}
	return scale, min
}

// factors returns two integers for each half of a tile: quants has the factors of its quants, mins
// the factors of the minimum.
func (f Format) factors(s *format.Share) (quants, mins [2]int32) {
	for half, b := range s.Factors {
		if f.Factors == format.Nibbles {
			quants[half], mins[half] = int32(b&15), -int32(b>>4)
		} else {
			quants[half] = int32(int8(b))
		}
	}
	return quants, mins
}

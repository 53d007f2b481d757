package cuda

import (
	"strings"

	"specula/kernels/format"
)

// These formats have variables, because other code refers to them. The others are in the table packed only.
var (
	BFloat16 = &Format{Name: "bfloat16", Module: "matmul_float", Columns: 128, Activations: "round_bfloat16",
		slabBytes: 4096, file: format.Find(format.BF16), mostRanges: 16,
		groupSlab: 2048, blockGroups: 16, stages: 3, pieces: 2, pack: packShorts}
	Half = &Format{Name: "half", Module: "matmul_float", Columns: 128, Activations: "round_half",
		slabBytes: 4096, file: format.Find(format.F16), mostRanges: 16,
		groupHeader: 128, groupSlab: 2048, blockGroups: 16, stages: 3, pieces: 2, pack: packShorts}
	Q8_0 = scaled("matmul_integer", format.Q8_0)
	Q4_K = scaled("matmul_integer", format.Q4_K)
	Q6_K = &Format{Name: "q6_k", Module: "matmul_integer", Columns: 256, Activations: "quantise_rows",
		slabBytes: 3360, file: format.Find(format.Q6_K), mostRanges: 8,
		groupSlab: 2560, blockGroups: 8, stages: 2, pieces: 1, pack: packQ6_K}
)

// packed lists all formats.
var packed = []*Format{BFloat16, Half, Q8_0, Q4_K, Q6_K,
	scaled("matmul_blocks", 2),  // Q4_0
	scaled("matmul_blocks", 3),  // Q4_1
	scaled("matmul_blocks", 6),  // Q5_0
	scaled("matmul_blocks", 7),  // Q5_1
	scaled("matmul_blocks", 13), // Q5_K
	scaled("matmul_values", 20), // IQ4_NL
	scaled("matmul_values", 23), // IQ4_XS
	scaled("matmul_values", 39), // MXFP4
	scaled("matmul_low", 10),    // Q2_K
	scaled("matmul_low", 11),    // Q3_K
}

// scaled is the format for weights of a type that src/scaled.h or src/halves.h describes. All of it
// follows from the type's row in the table of types.
func scaled(module string, number uint32) *Format {
	file := format.Find(number)
	f := &Format{Name: strings.ToLower(file.Name), Module: module, Columns: 128, Activations: "quantise_rows", file: file,
		mostRanges: 16, groupSlab: 1280, blockGroups: 8, stages: 3, pieces: 1, pack: packScaled}
	if file.Super() {
		f.Columns, f.mostRanges, f.groupSlab, f.stages = 256, 8, 2560, 2
	}
	scaleBytes := 128
	switch {
	case file.Super() && file.Mins():
		scaleBytes = 256 + 64
	case file.Halves():
		scaleBytes = 256 + 32
	case file.OneFactor():
		scaleBytes = 128 + 32
	case file.ScaleKind == format.Exponent:
		scaleBytes = 64
	case file.Mins():
		scaleBytes = 256
	}
	f.slabBytes = plane{bits: file.Bits(), blocks: f.Columns / format.Tile}.bytes() + scaleBytes
	return f
}

// Packed returns the formats that weights of a model are kept in.
func Packed() []*Format { return packed }

// Source is the type of weights in a file that the format is packed from.
func (f *Format) Source() *format.Format { return f.file }

// PackedFormat returns the format for weights of a GGUF type, by the type's number.
func PackedFormat(ggufType uint32) (*Format, bool) {
	for _, f := range Packed() {
		if f.file.Type == ggufType {
			return f, true
		}
	}
	return nil, false
}

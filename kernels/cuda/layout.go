package cuda

import (
	"fmt"

	"specula/kernels/format"
)

// Format is a layout of weight matrices in device memory, for the products of src/matmul.h. Comments in
// src/matmul_float.cu, scaled.h, halves.h, values.h and quants.h describe each layout. Rows are grouped in
// tiles of 16 and columns in slabs of 128 or 256. A tile is a sequence of slabs, a matrix a sequence of
// tiles. Missing rows and columns are zeros.
type Format struct {
	Name    string // as in the names of its kernels
	Module  string // that has these kernels
	Columns int    // per slab
	// Activations names the kernel that converts float32 rows to the form that the products read:
	// round_… or quantise_rows.
	Activations string

	slabBytes   int
	file        *format.Format // the type that the weights have in a file
	mostRanges  int            // limit of Ranges
	groupHeader int            // bytes before the slabs of a group of 8 rows of activations
	groupSlab   int            // bytes of a group of 8 rows of activations for a slab of weights
	blockGroups int            // groups of 8 rows per block, in the kernel for many rows
	stages      int            // how many stages in shared memory the kernel for many rows has; see src/matmul_tile.h
	pieces      int            // how many stages a slab takes
	pack        func(f *Format, slab []byte, rows *[tileRows][]byte)
}

const (
	tileRows  = 16
	groupRows = 8
	// smallMatrix is the largest number of tiles for which a matrix may have up to mostRanges ranges.
	// More ranges keep more warps of a large GPU busy: an H200 has 132 multiprocessors. Larger
	// matrices have 8 ranges at most.
	smallMatrix = 132
)

func ceil(a, b int) int { return (a + b - 1) / b }

// Slabs is the number of slabs of cols columns.
func (f *Format) Slabs(cols int) int { return ceil(cols, f.Columns) }

// Tiles is the number of tiles that rows rows take.
func Tiles(rows int) int { return ceil(rows, tileRows) }

// Bytes is the size of a matrix on the device.
func (f *Format) Bytes(rows, cols int) int { return Tiles(rows) * f.Slabs(cols) * f.slabBytes }

// ActivationBytes is the size of m rows of activations in the form that the products read. It
// counts whole groups of 8 rows: a product reads 1, 2, or a multiple of 4 groups. Bytes of missing
// rows may have any value. A group does not depend on the rows before it, so a product may begin at any
// multiple of 32 rows.
func (f *Format) ActivationBytes(m, cols int) int {
	groups := ceil(m, groupRows)
	if groups > 2 {
		groups = ceil(groups, 4) * 4
	}
	return groups * (f.groupHeader + f.Slabs(cols)*f.groupSlab)
}

// Ranges is the number of ranges that the columns of a matrix are split into. It decides the bits of
// the product, so it depends on the matrix alone: not on the number of rows of activations, nor on
// the GPU.
func (f *Format) Ranges(tiles, cols int) int {
	most := f.mostRanges
	if tiles > smallMatrix {
		most = min(most, 8)
	}
	return min(most, f.Slabs(cols))
}

// Pack lays out rows × cols weights from a GGUF file for the device. dst has Bytes(rows, cols)
// bytes. A matrix can be packed in parts that begin at multiples of 16 rows.
func (f *Format) Pack(dst, src []byte, rows, cols int) error {
	if cols%f.file.BlockElements != 0 {
		return fmt.Errorf("packing %s weights: %d columns are no multiple of %d", f.Name, cols,
			f.file.BlockElements)
	}
	rowBytes := cols / f.file.BlockElements * f.file.BlockBytes
	if len(src) != rows*rowBytes || len(dst) != f.Bytes(rows, cols) {
		return fmt.Errorf("packing %s weights: %d × %d numbers are %d bytes and become %d; got %d and %d",
			f.Name, rows, cols, rows*rowBytes, f.Bytes(rows, cols), len(src), len(dst))
	}
	clear(dst)
	slabBytes := f.Columns / f.file.BlockElements * f.file.BlockBytes // of a row in the file
	for first := 0; first < rows; first += tileRows {
		for slab := range f.Slabs(cols) {
			var pieces [tileRows][]byte
			for r := range min(tileRows, rows-first) {
				row := src[(first+r)*rowBytes : (first+r+1)*rowBytes]
				pieces[r] = row[slab*slabBytes : min((slab+1)*slabBytes, rowBytes)]
			}
			f.pack(f, dst[:f.slabBytes], &pieces)
			dst = dst[f.slabBytes:]
		}
	}
	return nil
}

// Launch is the size of a kernel's launch: blocks, threads per block, and bytes of dynamic shared
// memory per block.
type Launch struct {
	Kernel      string
	GridX       int
	GridY       int
	Threads     int
	SharedBytes int
}

// Factor is the size of a weight matrix in a product: its rows, and the number of ranges that its columns
// are split into (see Ranges).
type Factor struct{ Rows, Ranges int }

// Factor returns the Factor of a matrix of this format.
func (f *Format) Factor(rows, cols int) Factor { return Factor{rows, f.Ranges(Tiles(rows), cols)} }

// MostJoined is how many matrices one launch can multiply with the same activations. Each product has
// the same bits as in a launch of its own.
const MostJoined = 3

// MostWithEpilogue is the largest number of rows of activations in a product with an epilogue; MostGated is that
// for a SwiGLUEpilogue.
const (
	MostWithEpilogue = 32
	MostGated        = 16
)

// The kinds of epilogues. SwiGLUEpilogue computes the SwiGLU of the first two results, which have equal sizes
// and are not written, and writes the operand of the next product. SumEpilogue adds the result to the residual
// stream and writes the squares of the sum, for a NormedProduct or a kernel norm_summed_….
const (
	NoEpilogue = iota
	SwiGLUEpilogue
	SumEpilogue
)

// SquaresBytes is the size of the squares that a SumEpilogue writes for m rows of cols numbers.
func SquaresBytes(m, cols int) int { return 4 * m * Tiles(cols) }

// Product is the launch that multiplies m rows of activations with up to MostJoined matrices of equal
// width. Its arguments are, for each matrix,
//
//	y (m, n) pointer, n int32 (the rows of the matrix), weights pointer, ranges int32
//
// or zeros in place of missing matrices; then activations pointer, m int32, and slabs int32, which is
// Slabs(cols). If m is at most MostWithEpilogue, an epilogue and the residual stream follow
// (kernels/cuda/src/epilogue.h, norm.h):
//
//	kind int32, operand pointer, its slabs int32, stream pointer, squares pointer, norm pointer, columns
//	int32, eps float32
//
// ProductThen gives the launch with an epilogue, NormedProduct that of a product that normalises its rows.
func (f *Format) Product(m int, matrices ...Factor) Launch {
	tiles, blocks, most, least := 0, 0, 0, f.mostRanges
	const blockTiles = 8
	for _, w := range matrices {
		tiles += Tiles(w.Rows)
		blocks += ceil(Tiles(w.Rows), blockTiles)
		most, least = max(most, w.Ranges), min(least, w.Ranges)
	}
	for i, variant := range [...]string{"_rows8", "_rows16", "_rows32"} {
		if groups := 1 << i; m <= groups*groupRows {
			if m == 1 && f.Activations == "quantise_rows" {
				variant = "_row"
			}
			return Launch{"matmul_" + f.Name + variant, tiles, 1, 32 * least,
				most * groups * groupRows * tileRows * 4}
		}
	}
	return Launch{"matmul_" + f.Name + "_tile", ceil(m, f.blockGroups*groupRows), blocks, 256,
		f.stages * (blockTiles*f.slabBytes + f.blockGroups*f.groupSlab) / f.pieces}
}

// ProductThen is the launch of Product with an epilogue of a kind.
func (f *Format) ProductThen(kind, m int, matrices ...Factor) Launch {
	l := f.Product(m, matrices...)
	if kind == SwiGLUEpilogue { // a block has two tiles of gate and two of up, and up to 16 warps
		const tiles, warps = 2, 16
		w, groups := matrices[0], 1
		if m > groupRows {
			groups = 2
		}
		atOnce := 2 * tiles
		for atOnce > 1 && atOnce*w.Ranges > warps {
			atOnce /= 2
		}
		l.GridX, l.Threads = ceil(Tiles(w.Rows), tiles), 32*atOnce*w.Ranges
		l.SharedBytes = 4 * groups * groupRows * tileRows * (2*tiles*w.Ranges + tiles)
	}
	return l
}

// NormedProduct is the launch of ProductThen for one row of the residual stream, which has cols numbers. Each
// block normalises the row itself and has it as an operand in shared memory. The kind is not SumEpilogue. GridX is the
// largest number of blocks: if there are fewer, each takes the tiles of several.
func (f *Format) NormedProduct(kind, cols int, matrices ...Factor) Launch {
	l := f.ProductThen(kind, 1, matrices...)
	l.Kernel = "matmul_" + f.Name + "_norm_row"
	l.SharedBytes += f.Slabs(cols) * f.groupSlab / groupRows
	return l
}

// NormSummed is the launch that writes the norm of m rows of the residual stream as an operand, after a
// SumEpilogue. Its arguments are: operand pointer, stream pointer, squares pointer, norm pointer, columns int32,
// eps float32, and slabs int32, which is ActivationSlabs(cols).
func (f *Format) NormSummed(m, cols int) Launch {
	return Launch{"norm_summed" + f.Operand(), ceil(f.ActivationSlabs(cols), 8), m, 256, 0}
}

// Prepare is the launch of the kernel that converts m rows of activations. Its arguments are:
// activations pointer, x (m, cols) pointer, cols int32, and slabs int32, which is
// ActivationSlabs(cols).
func (f *Format) Prepare(m, cols int) Launch {
	switch f.Activations {
	case "quantise_rows":
		return Launch{f.Activations, ceil(f.ActivationSlabs(cols), 8), m, 256, 0}
	case "round_half":
		return Launch{f.Activations, 1, m, 512, 0}
	}
	return Launch{f.Activations, ceil(f.ActivationSlabs(cols), 4), m, 256, 0}
}

// ActivationSlabs is the number of slabs of 128 columns of activations.
func (f *Format) ActivationSlabs(cols int) int { return f.Slabs(cols) * f.Columns / 128 }

// Operand is the suffix of the kernels that write their result as an operand: in the form that the
// products of this format read. It is "" if there are no such kernels.
func (f *Format) Operand() string {
	switch f.Activations {
	case "quantise_rows":
		return "_int8"
	case "round_bfloat16":
		return "_bfloat16"
	}
	return ""
}

// The forms of the operand that attention writes, see kernels/cuda/src/attend_half.cu.
const (
	NoOperand = iota
	Int8Operand
	BFloat16Operand
)

// OperandForm is the number of the form that Operand names.
func (f *Format) OperandForm() int {
	switch f.Operand() {
	case "_int8":
		return Int8Operand
	case "_bfloat16":
		return BFloat16Operand
	}
	return NoOperand
}

// EmbedKernel names the kernel that looks up rows of a matrix and writes them as float32. It runs
// one block of any size per row. Its arguments are: y (count, cols) pointer, weights pointer, ids
// (count) int32 pointer, cols int32, and slabs int32, which is Slabs(cols).
func (f *Format) EmbedKernel() string { return "embed_" + f.Name }

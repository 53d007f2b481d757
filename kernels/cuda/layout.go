package cuda

import (
	"encoding/binary"
	"fmt"

	"specula/kernels/format"
)

// Format is a layout of weight matrices in device memory, for the products of src/matmul.h. The
// kernels there document each layout. Rows are grouped in tiles of 16 and columns in slabs of 128
// or 256. A tile is a sequence of slabs, a matrix a sequence of tiles. Missing rows and columns
// are zeros.
type Format struct {
	Name    string // as in the names of its kernels
	Columns int    // per slab
	// Activations names the kernel that converts float32 rows to the form that the products read:
	// round_… or quantise_rows.
	Activations string

	slabBytes   int
	file        *format.Format // in which the weights come
	mostRanges  int
	groupHeader int // bytes that 8 rows of activations have before their slabs
	groupSlab   int // bytes of 8 rows of activations per slab of weights
	blockGroups int // groups of 8 rows per block, in the kernel for many rows
	stages      int // stages/pieces is how many slabs that kernel holds in shared memory
	pieces      int // see stages
	pack        func(slab []byte, rows *[tileRows][]byte)
}

const (
	tileRows  = 16
	groupRows = 8
	// smallMatrix is the largest number of tiles for which a matrix is spread over twice as many
	// warps, to occupy a large GPU. An H200 has 132 multiprocessors.
	smallMatrix = 132
)

// The formats.
var (
	BFloat16 = &Format{Name: "bfloat16", Columns: 128, Activations: "round_bfloat16",
		slabBytes: 4096, file: format.Find(format.BF16), mostRanges: 16,
		groupSlab: 2048, blockGroups: 16, stages: 3, pieces: 2, pack: packShorts}
	Half = &Format{Name: "half", Columns: 128, Activations: "round_half",
		slabBytes: 4096, file: format.Find(format.F16), mostRanges: 16,
		groupHeader: 128, groupSlab: 2048, blockGroups: 16, stages: 3, pieces: 2, pack: packShorts}
	Q8_0 = &Format{Name: "q8_0", Columns: 128, Activations: "quantise_rows",
		slabBytes: 2176, file: format.Find(format.Q8_0), mostRanges: 16,
		groupSlab: 1280, blockGroups: 8, stages: 3, pieces: 1, pack: packQ8_0}
	Q4_K = &Format{Name: "q4_k", Columns: 256, Activations: "quantise_rows",
		slabBytes: 2368, file: format.Find(format.Q4_K), mostRanges: 8,
		groupSlab: 2560, blockGroups: 8, stages: 2, pieces: 1, pack: packQ4_K}
	Q6_K = &Format{Name: "q6_k", Columns: 256, Activations: "quantise_rows",
		slabBytes: 3360, file: format.Find(format.Q6_K), mostRanges: 8,
		groupSlab: 2560, blockGroups: 8, stages: 2, pieces: 1, pack: packQ6_K}
)

func ceil(a, b int) int { return (a + b - 1) / b }

// Slabs is the number of slabs of cols columns.
func (f *Format) Slabs(cols int) int { return ceil(cols, f.Columns) }

// Tiles is the number of tiles of that many rows.
func Tiles(rows int) int { return ceil(rows, tileRows) }

// Bytes is the size of a matrix on the device.
func (f *Format) Bytes(rows, cols int) int { return Tiles(rows) * f.Slabs(cols) * f.slabBytes }

// ActivationBytes is the size of m rows of activations in the form that the products read. It
// counts whole groups of 8 rows: a product reads 1, 2, or a multiple of 4 groups. Bytes of missing
// rows may have any value. The bytes from row 32, 64, … on are those that the remaining rows would
// have alone.
func (f *Format) ActivationBytes(m, cols int) int {
	groups := ceil(m, groupRows)
	if groups > 2 {
		groups = ceil(groups, 4) * 4
	}
	return groups * (f.groupHeader + f.Slabs(cols)*f.groupSlab)
}

// Ranges is the number of ranges that the columns of a matrix are split into. It decides the bits of
// the product. So it depends on the matrix alone, not on the number of rows of activations and not on
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
			f.pack(dst[:f.slabBytes], &pieces)
			dst = dst[f.slabBytes:]
		}
	}
	return nil
}

// words visits the four-byte words of 512 bytes in the order in which tensor cores read them: at
// place is the word of row r, bytes k … k+3. A row is 32 bytes: 32 numbers of one byte, or 16 of
// two.
func words(visit func(place, r, k int)) {
	for lane := range 32 {
		for i := range 4 {
			visit(lane*16+i*4, lane/4+i%2*8, lane%4*4+i/2*16)
		}
	}
}

func packShorts(slab []byte, rows *[tileRows][]byte) {
	for step := range 8 {
		words(func(place, r, k int) {
			if from := step*32 + k; from < len(rows[r]) {
				copy(slab[step*512+place:][:4], rows[r][from:])
			}
		})
	}
}

func packQ8_0(slab []byte, rows *[tileRows][]byte) {
	for block := range 4 {
		words(func(place, r, k int) {
			if from := block * 34; from < len(rows[r]) {
				copy(slab[block*512+place:][:4], rows[r][from+2+k:])
			}
		})
		for r, row := range rows {
			if from := block * 34; from < len(row) {
				copy(slab[2048+r%8*16+block*4+r/8*2:][:2], row[from:])
			}
		}
	}
}

func packQ4_K(slab []byte, rows *[tileRows][]byte) {
	for pair := range 4 {
		words(func(place, r, k int) {
			if rows[r] != nil {
				copy(slab[pair*512+place:][:4], rows[r][16+pair*32+k:])
			}
		})
	}
	for r, row := range rows {
		if row == nil {
			continue
		}
		factors := slab[2048+r*16:][:16]
		for block := range 8 {
			factors[block], factors[8+block] = format.UnpackSixBits(row[4:16], block)
		}
		copy(slab[2048+256+r%8*8+r/8*4:][:4], row)
	}
}

func packQ6_K(slab []byte, rows *[tileRows][]byte) {
	var quants [tileRows][256]byte
	var share format.Share
	sixBits := format.Find(format.Q6_K)
	for r, row := range rows {
		if row == nil {
			continue
		}
		for tile := range 8 {
			sixBits.Read(&share, row, tile)
			copy(quants[r][tile*format.Tile:], share.Quants[:])
		}
		for i, scale := range row[192:208] {
			slab[3072+r*16+i] = scale + 128
		}
		copy(slab[3072+256+r%8*4+r/8*2:][:2], row[208:])
	}
	le := binary.LittleEndian
	for pair := range 4 {
		words(func(place, r, k int) {
			first, second := le.Uint32(quants[r][pair*64+k:]), le.Uint32(quants[r][pair*64+32+k:])
			le.PutUint32(slab[pair*512+place:], first&0x0f0f0f0f|second<<4&0xf0f0f0f0)
			high := (first>>2&0x0c0c0c0c | second>>4&0x03030303) ^ 0x0a0a0a0a
			at := slab[2048+pair/2*512+place:]
			le.PutUint32(at, le.Uint32(at)|high<<(4-pair%2*4))
		})
	}
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

// Factor is a matrix of a product: its rows, and the ranges that its columns are split into.
type Factor struct{ Rows, Ranges int }

// Factor is that of a matrix, with the ranges that it always has.
func (f *Format) Factor(rows, cols int) Factor { return Factor{rows, f.Ranges(Tiles(rows), cols)} }

// MostJoined is how many matrices one launch can multiply with the same activations. Each gets the
// bits that it gets alone.
const MostJoined = 3

// MostBeforeEpilogue is how many rows of activations a product has at most that can have an epilogue.
const MostBeforeEpilogue = 32

// The kinds of epilogues: none, SwiGLU of the first two results, and the sum with the residual stream
// and its norm. The last two write the operand of the next product.
const (
	NoEpilogue = iota
	SwiGLUEpilogue
	NormEpilogue
)

// Product is the launch of the products of m rows of activations with up to MostJoined matrices of
// as many columns. Its arguments are, for each matrix,
//
//	y (m, n) pointer, n int32, that is its rows, weights pointer, ranges int32
//
// all 0 where there are fewer matrices; then activations pointer, m int32, and slabs int32, which is
// Slabs(cols). If m is at most MostBeforeEpilogue, an epilogue follows (kernels/cuda/src/epilogue.h):
//
//	kind int32, arrived pointer, operand pointer, its slabs int32, stream pointer, norm pointer, eps
//	float32, threads int32
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
			return Launch{"matmul_" + f.Name + variant, tiles, 1, 32 * least,
				most * groups * groupRows * tileRows * 4}
		}
	}
	return Launch{"matmul_" + f.Name + "_tile", ceil(m, f.blockGroups*groupRows), blocks, 256,
		f.stages * (blockTiles*f.slabBytes + f.blockGroups*f.groupSlab) / f.pieces}
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

// Operand is the end of the names of kernels that write rows in the form that Prepare gives them; ""
// if there are none.
func (f *Format) Operand() string {
	switch f.Activations {
	case "quantise_rows":
		return "_int8"
	case "round_bfloat16":
		return "_bfloat16"
	}
	return ""
}

// EmbedKernel names the kernel that looks up rows of a matrix and writes them as float32. It runs
// one block of any size per row. Its arguments are: y (count, cols) pointer, weights pointer, ids
// (count) int32 pointer, cols int32, and slabs int32, which is Slabs(cols).
func (f *Format) EmbedKernel() string { return "embed_" + f.Name }

// Packed returns the formats that weights of a model are kept in.
func Packed() []*Format { return []*Format{BFloat16, Half, Q8_0, Q4_K, Q6_K} }

// PackedFormat returns the format for weights of a GGUF type, by the type's number.
func PackedFormat(ggufType uint32) (*Format, bool) {
	for _, f := range Packed() {
		if f.file.Type == ggufType {
			return f, true
		}
	}
	return nil, false
}

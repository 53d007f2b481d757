package cpu

const (
	// lanes is the number of partial sums of a product; see ref.Dot.
	lanes = 16
	// floatRows is the number of weight rows that are multiplied together. They are one item of
	// MatMulFloat.
	floatRows = 4
	// floatBlockBytes is the size of a block of weights. It stays in the second-level cache while it
	// is multiplied with one group of activation rows after the other. Meanwhile the next block is
	// prefetched. So a thread should get several blocks of a matrix.
	floatBlockBytes = 64 << 10
)

// MatMulFloat computes dst (m, rows) = x (m, cols) · wᵀ with the bits of ref.MatMulF32, for every
// Number type. The weights stay in memory as they are.
type MatMulFloat struct {
	Dst  []float32 // (M, Rows)
	X    []float32 // (M, Cols)
	M    int
	Type Number
	W    []byte // (Rows, Cols) numbers, little-endian, at any address; see PadRows
	Rows int
	Cols int
	// WidenFirst: see Ways. It only matters for many activation rows, and changes no bits.
	WidenFirst bool
}

// PadRows returns w with zeros appended, if it has fewer than four rows of rowBytes bytes each. The
// kernels read four rows at once. Without the zeros, such a matrix takes the portable way, which is
// several times slower.
func PadRows(w []byte, rowBytes int) []byte {
	if len(w) >= floatRows*rowBytes {
		return w
	}
	return append(w[:len(w):len(w)], make([]byte, floatRows*rowBytes-len(w))...)
}

// Items returns the number of groups of four weight rows.
func (t *MatMulFloat) Items() int { return (t.Rows + floatRows - 1) / floatRows }

// Work returns the number of multiplications.
func (t *MatMulFloat) Work() int { return t.M * t.Rows * t.Cols }

// Do computes the columns of Dst that belong to the items from … to−1.
func (t *MatMulFloat) Do(from, to int) {
	first, last := from*floatRows, min(to*floatRows, t.Rows)
	if level == Portable || len(t.W) < floatRows*t.Cols*t.Type.bytes || t.Cols%lanes != 0 {
		t.portable(first, last)
		return
	}
	if whole := (last - first) / floatRows * floatRows; t.hasManyRows() {
		t.multiplyMany(first, first+whole)
		first += whole
	}
	t.floats(first, last)
}

// blockRows returns the number of weight rows in a block.
func (t *MatMulFloat) blockRows() int {
	return max(1, floatBlockBytes/(t.Cols*t.Type.bytes*floatRows)) * floatRows
}

//go:build !noasm

package cpu

// decodes reports whether this level has decode and multiplyColumns.
func decodes() bool { return level >= AVX2 }

// decode writes the weights of tiles to dst (32·tiles, 32): the 32 rows of one column, then the 32
// rows of the next. The tiles belong to one super-block, if the format has super-blocks.
func decode(f Format, dst []float32, panel []byte, tile, tiles int) {
	at, head := f.tileAt(tile)
	_ = dst[:tiles*Block*panelRows]
	if level == AVX2 {
		decodeAVX2(f, &dst[0], &panel[at], &panel[head], tiles)
		return
	}
	decodeAVX512(f, &dst[0], &panel[at], &panel[head], tiles)
}

// multiplyColumns adds the products of w (columns, 32) and m rows of x, which are stride numbers
// apart, to sums (m, 16, 32): the product of column k to sum k mod 16, as ref.Dot does.
func multiplyColumns(sums, w, x []float32, m, stride int) {
	cols := len(w) / panelRows
	_, _ = sums[:m*rowSums], x[:(m-1)*stride+cols]
	if level == AVX2 {
		columnsAVX2(&sums[0], &w[0], &x[0], cols, m, 4*stride)
		return
	}
	columnsAVX512(&sums[0], &w[0], &x[0], cols, m, 4*stride)
}

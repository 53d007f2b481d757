//go:build !noasm

package cpu

// multiplyPanel multiplies a panel with rows of x, beginning with row first. It writes 32 columns to rows
// of dst that are stride numbers apart. sums (rows, 32) is scratch memory. It must be zero before, and is
// zero afterwards; on the level AVX512 its content does not matter. prefetch is that of MatMulQuantized.
func multiplyPanel(dst []float32, stride int, sums []float32, f Format, panel []byte, x *Quantized,
	first int, prefetch Prefetching) {
	rows, tiles, xStride := len(sums)/panelRows, x.cols/Block, x.m*recordBytes
	_ = dst[:(rows-1)*stride+panelRows]
	record := &x.record(0, first)[0]
	switch {
	case level == AMX && rows >= leastTileRows && tiles%2 == 0 && !f.Halves() && !f.TwoScales():
		productAMX(f, &sums[0], &panel[0], record, tiles, rows, xStride)
	case level >= AVX512 && rows <= mostInRegisters(f):
		multiplyInRegisters(&dst[0], 4*stride, f, &panel[0], record, tiles, rows, xStride, prefetch.FillCaches)
		return
	case level >= AVX512:
		switch {
		case leastFewRows <= rows && rows <= mostSecondRows && prefetch.SecondCache:
			productFewSecondAVX512(f, &dst[0], 4*stride, &sums[0], &panel[0], record, tiles, rows, xStride)
		case leastFewRows <= rows && rows <= mostFewRows:
			productFewAVX512(f, &dst[0], 4*stride, &sums[0], &panel[0], record, tiles, rows, xStride)
		default:
			productAVX512(f, &dst[0], 4*stride, &sums[0], &panel[0], record, tiles, rows, xStride)
		}
		if level == AMX {
			clear(sums) // a later tile product needs zeros; this product does not leave any
		}
		return
	case level == AVX2:
		productAVX2(f, &sums[0], &panel[0], record, tiles, rows, xStride)
	default:
		multiplyPanelGeneric(sums, f, panel, x, first)
	}
	moveSums(dst, sums, stride)
}

// mostInRegisters returns the largest number of activation rows whose sums stay in registers while a panel
// is multiplied (docs/figures.md says what two rows gain). If the halves of a tile have factors or scales of
// their own, the registers suffice for one row only.
func mostInRegisters(f Format) int {
	if f.Halves() || f.TwoScales() {
		return 1
	}
	return 2
}

// multiplyInRegisters is multiplyPanel for up to mostInRegisters rows, and needs no sums in memory.
func multiplyInRegisters(dst *float32, dstStride int, f Format, panel, x *byte, tiles, rows, xStride int, fillCaches bool) {
	switch {
	case rows == 1 && fillCaches:
		productx1NearAVX512(f, dst, dstStride, panel, x, tiles, xStride)
	case rows == 1:
		productx1AVX512(f, dst, dstStride, panel, x, tiles, xStride)
	case fillCaches:
		productx2NearAVX512(f, dst, dstStride, panel, x, tiles, xStride)
	default:
		productx2AVX512(f, dst, dstStride, panel, x, tiles, xStride)
	}
}

// With leastFewRows to mostFewRows activation rows, the loop over the rows prefetches a part of the
// next weights in each step.
const leastFewRows, mostFewRows = 3, 16

// mostSecondRows is the largest number of rows for which the second-level cache may be better to
// prefetch into. With more rows, the products take about as long as reading the weights.
const mostSecondRows = 8

// leastTileRows is the least number of rows for which AMX tiles are faster than vectors. With fewer rows
// the tile unit waits for the vector unit, which unpacks its weights and reads its sums.
const leastTileRows = 16

// moveSums copies sums (m, 32) to rows of dst that are stride numbers apart, and then clears them.
func moveSums(dst, sums []float32, stride int) {
	m := len(sums) / panelRows
	_ = dst[:(m-1)*stride+panelRows]
	if level == Portable {
		moveSumsGeneric(dst, sums, stride)
		return
	}
	moveSumsAVX2(&dst[0], &sums[0], m, 4*stride)
}

// askForRows prefetches the first 32 numbers of m rows of dst, where the product will write its results.
// The rows are stride numbers apart.
func askForRows(dst []float32, m, stride int) {
	if level != Portable {
		askForRowsAVX2(&dst[0], m, 4*stride)
	}
}

// quantizeRow quantises x and writes its records, which are stride bytes apart.
func quantizeRow(records []byte, x []float32, stride int) {
	if level == Portable {
		quantizeRowGeneric(records, x, stride)
		return
	}
	tiles := len(x) / Block
	if level == AVX2 {
		quantizeAVX2(&records[0], &x[0], tiles, stride)
		return
	}
	for first := 0; first < tiles; {
		first += quantizeAVX512(&records[first*stride], &x[first*Block], tiles-first, stride)
		// Fewer than four tiles are left, or one of the next four has a number that is not finite.
		if rest := min(tiles-first, 4); rest > 0 {
			quantizeAVX2(&records[first*stride], &x[first*Block], rest, stride)
			first += rest
		}
	}
}

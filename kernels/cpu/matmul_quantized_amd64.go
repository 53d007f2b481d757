//go:build !noasm

package cpu

// multiplyPanel writes the product of a panel and rows first … of x to 32 columns of rows of dst that are stride numbers apart. The sums
// (rows, 32) wait where sums says, which are zeros before and after, except on AVX-512, where it does not matter what they are.
func multiplyPanel(dst []float32, stride int, sums []float32, f Format, panel []byte, x *Quantized, first int) {
	rows, tiles, xStride := len(sums)/panelRows, x.cols/Block, x.m*recordBytes
	_ = dst[:(rows-1)*stride+panelRows]
	record := &x.record(0, first)[0]
	switch {
	case level == AMX && rows >= leastTileRows && tiles%2 == 0 && !f.halves:
		productAMX(f, &sums[0], &panel[0], record, tiles, rows, xStride)
	case level >= AVX512 && rows == 1:
		productOfOneAVX512(f, &dst[0], &panel[0], record, tiles, xStride)
		return
	case level >= AVX512:
		if leastFewRows <= rows && rows <= mostFewRows {
			productOfFewAVX512(f, &dst[0], 4*stride, &sums[0], &panel[0], record, tiles, rows, xStride)
		} else {
			productAVX512(f, &dst[0], 4*stride, &sums[0], &panel[0], record, tiles, rows, xStride)
		}
		if level == AMX {
			clear(sums) // for tiles; this product itself needs no zeros
		}
		return
	case level == AVX2:
		productAVX2(f, &sums[0], &panel[0], record, tiles, rows, xStride)
	default:
		multiplyPanelGeneric(sums, f, panel, x, first)
	}
	moveSums(dst, sums, stride)
}

// productAVX512 is written out case by case: through a function value the sums would escape to the heap.
func productAVX512(f Format, dst *float32, dstStride int, acc *float32, panel, x *byte, tiles, m, stride int) {
	switch f {
	case Q8_0:
		productQ8_0AVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q4_0:
		productQ4_0AVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q4_1:
		productQ4_1AVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q5_0:
		productQ5_0AVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q5_1:
		productQ5_1AVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q4_K:
		productQ4_KAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q5_K:
		productQ5_KAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q6_K:
		productQ6_KAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	default:
		panic("cpu: no product of " + f.name)
	}
}

// leastFewRows and mostFewRows are the numbers of rows with each of which a piece of what lies ahead is prefetched.
const leastFewRows, mostFewRows = 3, 16

// productOfFewAVX512 is written out case by case, too.
func productOfFewAVX512(f Format, dst *float32, dstStride int, acc *float32, panel, x *byte, tiles, m, stride int) {
	switch f {
	case Q8_0:
		productQ8_0FewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q4_0:
		productQ4_0FewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q4_1:
		productQ4_1FewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q5_0:
		productQ5_0FewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q5_1:
		productQ5_1FewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q4_K:
		productQ4_KFewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q5_K:
		productQ5_KFewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	case Q6_K:
		productQ6_KFewAVX512(dst, dstStride, acc, panel, x, tiles, m, stride)
	default:
		panic("cpu: no product of " + f.name)
	}
}

// productOfOneAVX512 is written out case by case, too.
func productOfOneAVX512(f Format, dst *float32, panel, x *byte, tiles, stride int) {
	switch f {
	case Q8_0:
		productQ8_0x1AVX512(dst, panel, x, tiles, stride)
	case Q4_0:
		productQ4_0x1AVX512(dst, panel, x, tiles, stride)
	case Q4_1:
		productQ4_1x1AVX512(dst, panel, x, tiles, stride)
	case Q5_0:
		productQ5_0x1AVX512(dst, panel, x, tiles, stride)
	case Q5_1:
		productQ5_1x1AVX512(dst, panel, x, tiles, stride)
	case Q4_K:
		productQ4_Kx1AVX512(dst, panel, x, tiles, stride)
	case Q5_K:
		productQ5_Kx1AVX512(dst, panel, x, tiles, stride)
	case Q6_K:
		productQ6_Kx1AVX512(dst, panel, x, tiles, stride)
	default:
		panic("cpu: no product of " + f.name)
	}
}

// leastTileRows is the number of rows from which on tiles are faster than vectors: fewer do not hide that tiles take turns with memory.
const leastTileRows = 32

// productAMX is written out case by case: through a function value the sums would escape to the heap.
func productAMX(f Format, acc *float32, panel, x *byte, tiles, m, stride int) {
	switch f {
	case Q8_0:
		productQ8_0AMX(acc, panel, x, tiles, m, stride)
	case Q4_0:
		productQ4_0AMX(acc, panel, x, tiles, m, stride)
	case Q4_1:
		productQ4_1AMX(acc, panel, x, tiles, m, stride)
	case Q5_0:
		productQ5_0AMX(acc, panel, x, tiles, m, stride)
	case Q5_1:
		productQ5_1AMX(acc, panel, x, tiles, m, stride)
	case Q4_K:
		productQ4_KAMX(acc, panel, x, tiles, m, stride)
	case Q5_K:
		productQ5_KAMX(acc, panel, x, tiles, m, stride)
	default:
		panic("cpu: no product on tiles of " + f.name)
	}
}

// productAVX2 is written out case by case: through a function value the sums would escape to the heap.
func productAVX2(f Format, acc *float32, panel, x *byte, tiles, m, stride int) {
	switch f {
	case Q8_0:
		productQ8_0AVX2(acc, panel, x, tiles, m, stride)
	case Q4_0:
		productQ4_0AVX2(acc, panel, x, tiles, m, stride)
	case Q4_1:
		productQ4_1AVX2(acc, panel, x, tiles, m, stride)
	case Q5_0:
		productQ5_0AVX2(acc, panel, x, tiles, m, stride)
	case Q5_1:
		productQ5_1AVX2(acc, panel, x, tiles, m, stride)
	case Q4_K:
		productQ4_KAVX2(acc, panel, x, tiles, m, stride)
	case Q5_K:
		productQ5_KAVX2(acc, panel, x, tiles, m, stride)
	case Q6_K:
		productQ6_KAVX2(acc, panel, x, tiles, m, stride)
	default:
		panic("cpu: no product of " + f.name)
	}
}

// moveSums stores sums (m, 32) to rows of dst that are stride numbers apart, and clears them.
func moveSums(dst, sums []float32, stride int) {
	m := len(sums) / panelRows
	_ = dst[:(m-1)*stride+panelRows]
	if level == Portable {
		moveSumsGeneric(dst, sums, stride)
		return
	}
	moveSumsAVX2(&dst[0], &sums[0], m, 4*stride)
}

// askForRows brings the places of sums (m, 32) in rows of dst, which are stride numbers apart, nearer to the processor.
func askForRows(dst []float32, m, stride int) {
	if level != Portable {
		askForRowsAVX2(&dst[0], m, 4*stride)
	}
}

// quantizeRow writes the records of x, which are stride bytes apart.
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
		if rest := min(tiles-first, 4); rest > 0 { // of which one is not finite, or which are too few
			quantizeAVX2(&records[first*stride], &x[first*Block], rest, stride)
			first += rest
		}
	}
}

//go:build !noasm

package cpu

// multiplyPanel multiplies a panel with the rows first … of x. It writes 32 columns to rows of dst
// that are stride numbers apart. sums (rows, 32) is scratch memory. It must be zero before, and is
// zero afterwards. On the level AVX512 its content does not matter.
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
			clear(sums) // the tile product needs zeros, this one does not
		}
		return
	case level == AVX2:
		productAVX2(f, &sums[0], &panel[0], record, tiles, rows, xStride)
	default:
		multiplyPanelGeneric(sums, f, panel, x, first)
	}
	moveSums(dst, sums, stride)
}

// productAVX512 is a switch over all formats. With a function value the sums would escape to the
// heap.
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

// From leastFewRows to mostFewRows activation rows, each row prefetches a part of the weights
// ahead.
const leastFewRows, mostFewRows = 3, 16

// productOfFewAVX512 is a switch for the same reason.
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

// productOfOneAVX512 is a switch for the same reason.
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

// leastTileRows is the number of rows from which AMX tiles are faster than vectors. With fewer rows
// the tile unit and memory wait for each other.
const leastTileRows = 32

// productAMX is a switch over all formats. With a function value the sums would escape to the heap.
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

// productAVX2 is a switch over all formats. With a function value the sums would escape to the
// heap.
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

// askForRows prefetches the parts of dst's rows that sums (m, 32) will be copied to; the rows are
// stride numbers apart.
func askForRows(dst []float32, m, stride int) {
	if level != Portable {
		askForRowsAVX2(&dst[0], m, 4*stride)
	}
}

// quantizeRow writes the records of x; they are stride bytes apart.
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
		if rest := min(tiles-first, 4); rest > 0 { // too few tiles are left, or one of the next four is not finite
			quantizeAVX2(&records[first*stride], &x[first*Block], rest, stride)
			first += rest
		}
	}
}

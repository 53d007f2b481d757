package cpu

// wordRows is the number of activation rows that one 64-bit multiplication serves; see Packing.
const wordRows = 3

// fieldBits is the width of a row's share of a word. The integer dot product of half a tile is at most 16·128·127 = 260,096 in
// magnitude and of a whole one twice that, which 20 bits and a sign hold; three fields of 21 fit 64 bits.
const fieldBits = 21

// Do packs three rows to a word: word k is quant₀[k] + quant₁[k]·2²¹ + quant₂[k]·2⁴². Multiplying a weight by the word
// multiplies it with three rows at once, and the sums of a tile do not run into each other.
// Integer arithmetic is exact: the packing cannot be seen in the result.
func (p *Packing) Do(from, to int) {
	q := (*Quantized)(p)
	clear(q.words[from*q.cols : to*q.cols])
	for i := from * wordRows; i < min(to*wordRows, q.m); i++ {
		words := q.words[i/wordRows*q.cols:][:q.cols]
		shift := fieldBits * (i % wordRows)
		for tile := range q.cols / Block {
			record := q.record(tile, i)
			for k := range Block {
				words[tile*Block+k] += int64(int8(record[k])) << shift
			}
		}
	}
}

// multiplyPanelGeneric adds the product of a panel and rows first … of x to sums (rows, 32), row by row of the panel.
func multiplyPanelGeneric(sums []float32, f Format, panel []byte, x *Quantized, first int) {
	var s share
	var quants [Block]uint8
	last := first + len(sums)/panelRows
	for tile := range x.cols / Block {
		for lane := range panelRows {
			f.get(panel, tile, lane, &s)
			scale, min := f.scaleAndMin(&s)
			for k, q := range s.quants {
				quants[k] = q - uint8(f.bias)
			}
			for i := first; i < last; i += wordRows {
				words := (*[Block]int64)(x.words[i/wordRows*x.cols+tile*Block:])
				dots := f.dotWords(&quants, words, &s)
				for j := i; j < i+wordRows && j < last; j++ {
					record := x.record(tile, j)
					sum := &sums[(j-first)*panelRows+lane]
					*sum += float32(float32(dots[j-i]) * float32(scale*getFloat(record[scaleAt:])))
					if f.mins {
						*sum += float32(min * getFloat(record[scaledSumAt:]))
					}
				}
			}
		}
	}
}

// dotWords is the exact product of a row's share of a tile and three rows of activations.
func (f Format) dotWords(quants *[Block]uint8, words *[Block]int64, s *share) [wordRows]int32 {
	low := dotHalf((*[Block / 2]uint8)(quants[:]), (*[Block / 2]int64)(words[:]))
	high := dotHalf((*[Block / 2]uint8)(quants[Block/2:]), (*[Block / 2]int64)(words[Block/2:]))
	if !f.halves {
		return fields(low + high)
	}
	dots, upper := fields(low), fields(high)
	for j := range dots {
		dots[j] = dots[j]*int32(int8(s.scales[0])) + upper[j]*int32(int8(s.scales[1]))
	}
	return dots
}

// fields unpacks three sums. The lowest is sign extended; taking it away clears its borrow from the one above.
func fields(packed int64) [wordRows]int32 {
	const above = 64 - fieldBits
	low := packed << above >> above
	packed = (packed - low) >> fieldBits
	middle := packed << above >> above
	high := (packed - middle) >> fieldBits
	return [wordRows]int32{int32(low), int32(middle), int32(high)}
}

// dotHalf sums quant·word over half a tile, the quants being signed. It is written out because constant indices cost neither a check nor an address.
func dotHalf(q *[Block / 2]uint8, w *[Block / 2]int64) int64 {
	a := int64(int8(q[0]))*w[0] + int64(int8(q[1]))*w[1] + int64(int8(q[2]))*w[2] + int64(int8(q[3]))*w[3]
	b := int64(int8(q[4]))*w[4] + int64(int8(q[5]))*w[5] + int64(int8(q[6]))*w[6] + int64(int8(q[7]))*w[7]
	c := int64(int8(q[8]))*w[8] + int64(int8(q[9]))*w[9] + int64(int8(q[10]))*w[10] + int64(int8(q[11]))*w[11]
	d := int64(int8(q[12]))*w[12] + int64(int8(q[13]))*w[13] + int64(int8(q[14]))*w[14] + int64(int8(q[15]))*w[15]
	return (a + b) + (c + d)
}

package cpu

import (
	"encoding/binary"

	"specula/kernels/format"
)

// wordRows is the number of activation rows that share a 64-bit multiplication; see Packing.Do.
const wordRows = 3

// fieldBits is the number of bits per row in a word. The integer dot product of half a tile has a
// magnitude of at most 16·128·127 = 260,096, and that of a whole tile at most twice as much. This
// fits into 20 bits and a sign, and three such fields fit into 64 bits.
const fieldBits = 21

// Do packs three rows into words: word k is quant₀[k] + quant₁[k]·2²¹ + quant₂[k]·2⁴². So one
// multiplication of a weight with a word serves three rows, and the sums of a tile do not overflow
// into each other. Integer arithmetic is exact, so the packing does not change the result.
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

// multiplyPanelGeneric adds the product of a panel and rows of x, beginning with row first, to sums
// (rows, 32). It unpacks one row of the panel at a time.
func multiplyPanelGeneric(sums []float32, f Format, panel []byte, x *Quantized, first int) {
	if f.Bits() == 8 {
		multiplyBytesGeneric(sums, panel, x, first)
		return
	}
	var s format.Share
	var quants [Block]uint8
	rows, halves := len(sums)/panelRows, f.Halves()
	for tile := range x.cols / Block {
		records := x.records[(tile*x.m+first)*recordBytes:][:rows*recordBytes]
		for lane := range panelRows {
			f.get(panel, tile, lane, &s)
			scale, min := f.scaleAndMin(&s)
			factors, mins := f.factors(&s)
			f.signed(&quants, &s.Quants)
			for i := 0; i < rows; i += wordRows {
				words := (*[Block]int64)(x.words[(first+i)/wordRows*x.cols+tile*Block:])
				dots, upper := dotHalves(&quants, words)
				if !halves && !f.TwoScales() {
					dots += upper
				}
				for j := i; j < i+wordRows && j < rows; j++ {
					var dot, other int32
					dot, dots = nextField(dots)
					record := (*[recordBytes]byte)(records[j*recordBytes:])
					xScale, sum := getFloat(record[scaleAt:]), &sums[j*panelRows+lane]
					switch {
					case halves:
						other, upper = nextField(upper)
						dot = dot*factors[0] + other*factors[1]
					case f.TwoScales():
						other, upper = nextField(upper)
					}
					*sum += float32(float32(dot) * float32(scale*xScale))
					switch {
					case f.TwoScales():
						*sum += float32(float32(other) * float32(min*xScale))
					case f.Factors == format.Nibbles:
						total, low := -getInt(record[minusSumAt:]), -getInt(record[minusLowAt:])
						*sum += float32(float32(mins[0]*low+mins[1]*(total-low)) * float32(min*xScale))
					case f.Mins():
						*sum += float32(min * getFloat(record[scaledSumAt:]))
					}
				}
			}
		}
	}
}

// multiplyBytesGeneric is multiplyPanelGeneric for quants of one byte, which it does not unpack. It
// multiplies them with their bias of 128 included. Then it subtracts what the bias has added to the sum:
// the same number for all weight rows.
func multiplyBytesGeneric(sums []float32, panel []byte, x *Quantized, first int) {
	const tileBytes = (2 + Block) * panelRows
	rows := len(sums) / panelRows
	var scales [panelRows]float32
	for n := range x.cols / Block {
		tile := (*[tileBytes]byte)(panel[n*tileBytes:])
		for lane := range scales {
			scales[lane] = half(binary.LittleEndian.Uint16(tile[2*lane:]))
		}
		for i := 0; i < rows; i += wordRows {
			words := (*[Block]int64)(x.words[(first+i)/wordRows*x.cols+n*Block:])
			var bias int64
			for _, word := range words {
				bias += word << 7
			}
			var xScales [wordRows]float32
			for j := range min(wordRows, rows-i) {
				xScales[j] = getFloat(x.records[(n*x.m+first+i+j)*recordBytes+scaleAt:])
			}
			for lane, scale := range scales {
				dots := dotBytes((*[4*panelRows*(groups-1) + 4]byte)(tile[2*panelRows+4*lane:]), words) - bias
				for j := range min(wordRows, rows-i) {
					var dot int32
					dot, dots = nextField(dots)
					sums[(i+j)*panelRows+lane] += float32(float32(dot) * float32(scale*xScales[j]))
				}
			}
		}
	}
}

// dotBytes sums quant·word over a tile for one lane of a panel; q begins with the lane's first four
// columns. It is unrolled: constant indices need no bounds checks and no address computation.
func dotBytes(q *[4*panelRows*(groups-1) + 4]byte, w *[Block]int64) int64 {
	const g = 4 * panelRows
	a := int64(q[0*g])*w[0] + int64(q[0*g+1])*w[1] + int64(q[0*g+2])*w[2] + int64(q[0*g+3])*w[3]
	b := int64(q[1*g])*w[4] + int64(q[1*g+1])*w[5] + int64(q[1*g+2])*w[6] + int64(q[1*g+3])*w[7]
	c := int64(q[2*g])*w[8] + int64(q[2*g+1])*w[9] + int64(q[2*g+2])*w[10] + int64(q[2*g+3])*w[11]
	d := int64(q[3*g])*w[12] + int64(q[3*g+1])*w[13] + int64(q[3*g+2])*w[14] + int64(q[3*g+3])*w[15]
	a += int64(q[4*g])*w[16] + int64(q[4*g+1])*w[17] + int64(q[4*g+2])*w[18] + int64(q[4*g+3])*w[19]
	b += int64(q[5*g])*w[20] + int64(q[5*g+1])*w[21] + int64(q[5*g+2])*w[22] + int64(q[5*g+3])*w[23]
	c += int64(q[6*g])*w[24] + int64(q[6*g+1])*w[25] + int64(q[6*g+2])*w[26] + int64(q[6*g+3])*w[27]
	d += int64(q[7*g])*w[28] + int64(q[7*g+1])*w[29] + int64(q[7*g+2])*w[30] + int64(q[7*g+3])*w[31]
	return (a + b) + (c + d)
}

// signed converts the quants of a tile's row to the numbers that they stand for. Without a table of
// values, it subtracts the bias from eight quants at a time. Quants are below 128; setting the
// highest bit of each byte keeps the subtraction from borrowing from the next byte.
func (f Format) signed(signed, quants *[Block]uint8) {
	if f.Values != nil {
		for k, q := range quants {
			signed[k] = uint8(f.Values[q&15])
		}
		return
	}
	const highest, each = 0x8080808080808080, 0x0101010101010101
	le := binary.LittleEndian
	for k := 0; k < Block; k += 8 {
		word := (le.Uint64(quants[k:]) | highest) - uint64(f.Bias)*each
		le.PutUint64(signed[k:], word^highest)
	}
}

// nextField returns the lowest sum in a word, and the word with the other sums. A negative lowest sum
// has borrowed from the next sum; subtracting the lowest gives that back.
func nextField(packed int64) (sum int32, above int64) {
	const other = 64 - fieldBits
	low := packed << other >> other
	return int32(low), (packed - low) >> fieldBits
}

// dotHalves sums quant·word over each half of a tile, with signed quants. It is unrolled: constant
// indices need no bounds checks and no address computation.
func dotHalves(q *[Block]uint8, w *[Block]int64) (low, high int64) {
	a := int64(int8(q[0]))*w[0] + int64(int8(q[1]))*w[1] + int64(int8(q[2]))*w[2] + int64(int8(q[3]))*w[3]
	b := int64(int8(q[4]))*w[4] + int64(int8(q[5]))*w[5] + int64(int8(q[6]))*w[6] + int64(int8(q[7]))*w[7]
	c := int64(int8(q[8]))*w[8] + int64(int8(q[9]))*w[9] + int64(int8(q[10]))*w[10] + int64(int8(q[11]))*w[11]
	d := int64(int8(q[12]))*w[12] + int64(int8(q[13]))*w[13] + int64(int8(q[14]))*w[14] + int64(int8(q[15]))*w[15]
	low = (a + b) + (c + d)
	a = int64(int8(q[16]))*w[16] + int64(int8(q[17]))*w[17] + int64(int8(q[18]))*w[18] + int64(int8(q[19]))*w[19]
	b = int64(int8(q[20]))*w[20] + int64(int8(q[21]))*w[21] + int64(int8(q[22]))*w[22] + int64(int8(q[23]))*w[23]
	c = int64(int8(q[24]))*w[24] + int64(int8(q[25]))*w[25] + int64(int8(q[26]))*w[26] + int64(int8(q[27]))*w[27]
	d = int64(int8(q[28]))*w[28] + int64(int8(q[29]))*w[29] + int64(int8(q[30]))*w[30] + int64(int8(q[31]))*w[31]
	return low, (a + b) + (c + d)
}

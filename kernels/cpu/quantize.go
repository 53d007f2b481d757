package cpu

import (
	"encoding/binary"
	"math"

	"specula/kernels/cpu/layout"
)

const (
	scaleAt     = layout.ScaleAt
	minusSumAt  = layout.MinusSumAt
	minusLowAt  = layout.MinusLowAt
	scaledSumAt = layout.ScaledSumAt
	recordBytes = layout.RecordBytes

	recordsAtOnce = 16 // that an AMX tile reads
)

// Quantized holds activations (m, cols) as integers, quantised by the rule of ref.QuantizeRow.
type Quantized struct {
	m, cols int
	// (cols/32, m) records, which package layout describes: a row's quants of 32 columns, scale and sums
	records []byte
	words   []int64 // (⌈m/3⌉, cols), only on the portable level: three rows in a word, see Packing.Do

	x []float32 // (m, cols), as given to Begin
}

// Grow makes room for m rows of cols numbers, so that Quantize does not allocate.
func (q *Quantized) Grow(m, cols int) {
	// An AMX tile reads 16 records even if there are fewer rows; the surplus results are dropped.
	if need := (m*cols/Block + recordsAtOnce - 1) * recordBytes; need > cap(q.records) {
		q.records = make([]byte, need)
	}
	if need := (m + wordRows - 1) / wordRows * cols; level == Portable && need > cap(q.words) {
		q.words = make([]int64, need)
	}
}

// Quantize quantises x (m, cols); cols is a multiple of 32.
func (q *Quantized) Quantize(x []float32, m, cols int) {
	q.Begin(x, m, cols)
	q.Do(0, m)
	q.Pack().Do(0, q.Packs())
}

// Begin makes the receiver a task whose items are the rows of x (m, cols); cols is a multiple of 32. On the
// portable level, whose products read words, the task Pack must follow.
func (q *Quantized) Begin(x []float32, m, cols int) {
	q.Grow(m, cols)
	q.m, q.cols, q.x = m, cols, x
	q.records = q.records[:m*cols/Block*recordBytes]
	if level == Portable {
		q.words = q.words[:(m+wordRows-1)/wordRows*cols]
	}
}

// Do quantises rows from … to−1.
func (q *Quantized) Do(from, to int) {
	for i := from; i < to; i++ {
		q.Tiles(i, 0, q.cols/Block)
	}
}

// Tiles quantises the tiles from … to−1 of a row.
func (q *Quantized) Tiles(row, from, to int) {
	quantizeRow(q.records[(from*q.m+row)*recordBytes:], q.x[row*q.cols:][from*Block:to*Block],
		q.m*recordBytes)
}

// Packing is the task that fills the words of a Quantized, which only the portable level needs.
type Packing Quantized

// Pack returns the receiver as a Packing task, which has Packs items.
func (q *Quantized) Pack() *Packing { return (*Packing)(q) }

// Packs returns the number of items of Pack; 0 on other levels than the portable one.
func (q *Quantized) Packs() int {
	if level != Portable {
		return 0
	}
	return (q.m + wordRows - 1) / wordRows
}

// record returns the record of row i for a tile.
func (q *Quantized) record(tile, i int) *[recordBytes]byte {
	return (*[recordBytes]byte)(q.records[(tile*q.m+i)*recordBytes:])
}

func getInt(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }

func getFloat(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// smallestMagnitude is ref.SmallestMagnitude.
const smallestMagnitude = 0x1p-118

// roundingBias rounds a float32 of magnitude below 2²² when it is added: around the sum, float32
// numbers are 1 apart. So the sum is rounded to the nearest integer, ties to even, and its low bits
// are that integer.
const roundingBias = 0x1.8p23

// quantizeRowGeneric quantises x and writes its records, which are stride bytes apart.
func quantizeRowGeneric(records []byte, x []float32, stride int) {
	for len(x) > 0 {
		record := (*[recordBytes]byte)(records)
		scale := quantizeTile((*[Block]uint8)(record[:]), (*[Block]float32)(x))
		var low, sum int32
		for k := range Block / 2 {
			low += int32(int8(record[k]))
			sum += int32(int8(record[k+Block/2]))
		}
		sum += low
		le := binary.LittleEndian
		le.PutUint32(record[scaleAt:], math.Float32bits(scale))
		le.PutUint32(record[minusSumAt:], uint32(-sum))
		le.PutUint32(record[minusLowAt:], uint32(-low))
		le.PutUint32(record[scaledSumAt:], math.Float32bits(scale*float32(sum)))
		x = x[Block:]
		records = records[min(stride, len(records)):]
	}
}

// quantizeTile writes the quants of x and returns their scale.
func quantizeTile(quants *[Block]uint8, x *[Block]float32) float32 {
	const magnitude, infinity = 1<<31 - 1, 0xff << 23
	clear(quants[:])
	var largest uint32 // bits of magnitudes compare like the magnitudes; NaN is above all
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&magnitude)
	}
	if largest >= infinity {
		return float32(math.NaN())
	}
	a := math.Float32frombits(largest)
	if a < smallestMagnitude {
		return 0
	}
	inverse := 127 / a
	for k, v := range x {
		rounded := float32(v*inverse) + roundingBias
		quants[k] = uint8(math.Float32bits(rounded) - math.Float32bits(roundingBias))
	}
	return a / 127
}

package cpu

import "encoding/binary"

// A KV in Q8_0 has blocks of 32 numbers of one key or value: a scale in half precision, then a signed
// byte per number; number = scale·byte. Values are such blocks, as in llama.cpp. The blocks of 16 keys are
// interleaved as KeyDim/32 tiles, each with 16 scales and then quants (32, 16). So a register holds
// number d of 16 keys, as in the other types.
const (
	scaleBytesQ8_0 = 2
	blockBytesQ8_0 = scaleBytesQ8_0 + Block
	tileScales     = lanes * scaleBytesQ8_0 // bytes of the scales of a tile, before its quants
	tileBytes      = lanes * blockBytesQ8_0
)

// quantizedAt returns the offset in bytes of the block whose first number has index at, a multiple of 32.
func quantizedAt(at int) int { return at / Block * blockBytesQ8_0 }

// quantizedHead has room for the records of a head's numbers (see Quantized).
type quantizedHead [MaxKeyDim / Block * recordBytes]byte

// quantize quantises whole blocks of x by the rule of ref.QuantizeQ8_0: it computes the quants with
// the scale in float32. The method block rounds this scale to half precision.
func (h *quantizedHead) quantize(x []float32) { quantizeRow(h[:], x, recordBytes) }

// block returns the scale and the quants of block i.
func (h *quantizedHead) block(i int) (scale uint16, quants *[Block]byte) {
	record := h[i*recordBytes:]
	return toHalf(getFloat(record[scaleAt:])), (*[Block]byte)(record)
}

// storeQuantizedKey writes a key to the tiles of 16 keys, at position lane.
func storeQuantizedKey(tiles []byte, key []float32, lane int) {
	var h quantizedHead
	h.quantize(key)
	for i := range len(key) / Block {
		tile := (*[tileBytes]byte)(tiles[i*tileBytes:])
		scale, quants := h.block(i)
		binary.LittleEndian.PutUint16(tile[lane*scaleBytesQ8_0:], scale)
		scatter(tile[tileScales+lane:], quants[:])
	}
}

// storeQuantizedValue writes a value to its blocks.
func storeQuantizedValue(blocks []byte, value []float32) {
	var h quantizedHead
	h.quantize(value)
	for i := range len(value) / Block {
		block := (*[blockBytesQ8_0]byte)(blocks[i*blockBytesQ8_0:])
		scale, quants := h.block(i)
		binary.LittleEndian.PutUint16(block[:], scale)
		copy(block[scaleBytesQ8_0:], quants[:])
	}
}

// loadQuantizedKey reads the key at position lane from the tiles of 16 keys.
func loadQuantizedKey(key []float32, tiles []byte, lane int) {
	for i := range len(key) / Block {
		tile := (*[tileBytes]byte)(tiles[i*tileBytes:])
		scale := half(binary.LittleEndian.Uint16(tile[lane*scaleBytesQ8_0:]))
		for k := range Block {
			key[i*Block+k] = float32(int8(tile[tileScales+k*lanes+lane])) * scale
		}
	}
}

// loadQuantizedValue reads a value from its blocks.
func loadQuantizedValue(value []float32, blocks []byte) {
	for len(value) > 0 {
		dequantizeBlock((*[Block]float32)(value), (*[blockBytesQ8_0]byte)(blocks))
		value, blocks = value[Block:], blocks[blockBytesQ8_0:]
	}
}

func dequantizeBlock(dst *[Block]float32, block *[blockBytesQ8_0]byte) {
	scale := half(binary.LittleEndian.Uint16(block[:]))
	for k, quant := range block[scaleBytesQ8_0:] {
		dst[k] = float32(int8(quant)) * scale
	}
}

// dequantizeTile unpacks 32 numbers of 16 keys to (32, 16).
func dequantizeTile(dst *[Block * lanes]float32, tile *[tileBytes]byte) {
	var scales [lanes]float32
	for i := range scales {
		scales[i] = half(binary.LittleEndian.Uint16(tile[i*scaleBytesQ8_0:]))
	}
	for i, quant := range tile[tileScales:] {
		dst[i] = float32(int8(quant)) * scales[i%lanes]
	}
}

// scoreKeysQuantizedGeneric is scoreKeysGeneric for tiles of keys. Each tile is unpacked once for
// all queries.
func scoreKeysQuantizedGeneric(dst []float32, q *queries, keys []byte, n, headDim, blocks int,
	factor float32) {
	var numbers [Block * lanes]float32
	for b := range blocks {
		var sums [queriesAtOnce][lanes]float32
		for d := 0; d < headDim; d += Block {
			dequantizeTile(&numbers, (*[tileBytes]byte)(keys[quantizedAt(b*lanes*headDim+d*lanes):]))
			for j := range n {
				for k, x := range q.row(j, headDim)[d:][:Block] {
					for i, key := range numbers[k*lanes:][:lanes] {
						sums[j][i] += float32(key * x)
					}
				}
			}
		}
		for j := range n {
			for i, s := range sums[j] {
				dst[j*KeysPerSplit+b*lanes+i] = s * factor
			}
		}
	}
}

// sumValuesQuantizedGeneric is sumValuesGeneric for blocks of values. Each block is unpacked once
// for all queries.
func sumValuesQuantizedGeneric(dst *queries, values []byte, weights []float32, n, keys, headDim int) {
	var numbers [Block]float32
	for i := range keys {
		for d := 0; d < headDim; d += Block {
			dequantizeBlock(&numbers, (*[blockBytesQ8_0]byte)(values[quantizedAt(i*headDim+d):]))
			for j := range n {
				weight, sums := weights[j*KeysPerSplit+i], (*[Block]float32)(dst.row(j, headDim)[d:])
				for k, v := range numbers {
					sums[k] += float32(v * weight)
				}
			}
		}
	}
}

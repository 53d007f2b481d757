package cpu

import "math"

const (
	// Block is the number of weights that share a scale in Q8_0.
	Block = 32
	// BlockBytesQ8_0 is the size of a Q8_0 block in a file: a half-precision scale and 32 signed bytes.
	BlockBytesQ8_0 = 2 + Block
)

// group is the number of activation rows that one 64-bit multiplication serves; see Packed.
const group = 3

// fieldBits is the width of a row's share of a packed word. A block's integer dot product is at most 32·128·127 = 520,192
// in magnitude, which 19 bits and a sign hold; three fields of 21 fit 64 bits.
const fieldBits = 21

// Packed holds activations quantised to Q8_0 blocks, three rows to a word: word k of a group is
// quant₀[k] + quant₁[k]·2²¹ + quant₂[k]·2⁴². Multiplying a weight by the word multiplies it with three rows at once, and the sums of a
// block do not run into each other, so a verification of three rows costs hardly more than a decode of one.
// Integer arithmetic is exact: the packing cannot be seen in the result.
type Packed struct {
	m, cols int
	words   []int64          // (⌈m/3⌉, cols)
	scales  [][group]float32 // (⌈m/3⌉, cols/32); zero for rows beyond m
}

// Grow makes room for m rows of cols numbers, so that Pack does not allocate.
func (p *Packed) Grow(m, cols int) {
	groups := (m + group - 1) / group
	if need := groups * cols; need > cap(p.words) {
		p.words = make([]int64, need)
		p.scales = make([][group]float32, need/Block)
	}
}

// Pack quantises x (m, cols) as ref.QuantizeRow does; cols is a multiple of 32.
func (p *Packed) Pack(x []float32, m, cols int) {
	p.Grow(m, cols)
	p.m, p.cols = m, cols
	groups := (m + group - 1) / group
	p.words = p.words[:groups*cols]
	p.scales = p.scales[:groups*cols/Block]
	clear(p.words)
	clear(p.scales)
	for i := range m {
		words := p.words[i/group*cols:][:cols]
		scales := p.scales[i/group*cols/Block:][:cols/Block]
		for b := range scales {
			block := (*[Block]float32)(x[i*cols+b*Block:])
			scales[b][i%group] = packBlock((*[Block]int64)(words[b*Block:]), block, fieldBits*(i%group))
		}
	}
}

// smallestMagnitude is ref.SmallestMagnitude.
const smallestMagnitude = 0x1p-118

// roundingBias pushes a float32 of magnitude below 2²² to where neighbours are 1 apart: adding it rounds to the nearest
// integer, ties to even, and leaves that integer in the low bits.
const roundingBias = 0x1.8p23

// packBlock adds the quants of x, shifted left by shift, to words and returns their scale.
func packBlock(words *[Block]int64, x *[Block]float32, shift int) float32 {
	const magnitude, infinity = 1<<31 - 1, 0xff << 23
	var largest uint32 // magnitudes order like their bit patterns, a NaN above all
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
		quant := int32(math.Float32bits(rounded)) - int32(math.Float32bits(roundingBias))
		words[k] += int64(quant) << shift
	}
	return a / 127
}

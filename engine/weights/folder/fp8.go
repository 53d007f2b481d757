package folder

import (
	"context"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// FP8 weights have a factor for each block, usually of 128 × 128 numbers (weight_scale_inv, in files of DeepSeek),
// for each row, or for the whole tensor (weight_scale). The product of number and factor is rounded to
// BF16, as transformers does when it converts the format.

// scaleSuffixes are appended to the name of a tensor to get the name of its factors.
var scaleSuffixes = []string{"_scale_inv", "_scale"}

// scale gives the factors of the blocks of a tensor.
type scale struct {
	place
	typ                  compute.DType
	rows, cols           int // shape of the matrix of factors
	blockRows, blockCols int // rows and columns of the tensor that have the same factor
}

// findScale finds and checks the factors of an FP8 tensor.
func (f *Folder) findScale(p *part) (*scale, error) {
	for _, suffix := range scaleSuffixes {
		at, found := f.where[p.tensor.Name+suffix]
		if !found {
			continue
		}
		s := &scale{place: at, rows: 1, cols: 1}
		switch at.tensor.Type {
		case "F32":
			s.typ = compute.F32
		case "BF16":
			s.typ = compute.BF16
		default:
			return nil, f.refuse(at, "type "+at.tensor.Type, "F32 and BF16")
		}
		rows, cols := p.rows, int(p.elements())/p.rows
		shape := at.tensor.Shape
		if len(shape) > 2 || at.elements() == 0 {
			return nil, f.refuse(at, fmt.Sprintf("shape %v", shape), "at most two dimensions, none of them 0")
		}
		if len(shape) > 0 {
			s.rows = int(shape[0])
		}
		if len(shape) > 1 {
			s.cols = int(shape[1])
		}
		s.blockRows, s.blockCols = f.block(s.rows, rows, 0), f.block(s.cols, cols, 1)
		if (rows+s.blockRows-1)/s.blockRows != s.rows || (cols+s.blockCols-1)/s.blockCols != s.cols {
			return nil, f.refuse(at, fmt.Sprintf("shape %v", shape), fmt.Sprintf("one factor for each block of the %d × %d numbers of %.64q", rows, cols, p.tensor.Name))
		}
		return s, nil
	}
	return nil, f.refuse(p.place, "type F8_E4M3 without factors", "a tensor of the same name and "+scaleSuffixes[0])
}

// block returns how many neighbouring numbers share a factor along a dimension of size numbers with n
// factors: all if n is 1, otherwise as many as config.json says for this dimension, otherwise one.
func (f *Folder) block(n, size, dimension int) int {
	switch given := f.config.Object("quantization_config").Numbers("weight_block_size"); {
	case n == 1:
		return size
	case len(given) == 2 && given[dimension] >= 1 && given[dimension] <= 1<<20:
		return int(given[dimension])
	}
	return 1
}

// scaled writes the numbers of an FP8 tensor in BF16.
func (f *Folder) scaled(ctx context.Context, p part, stored []byte, cols int, data []byte) error {
	packed, err := f.loaded(ctx, p.scale.place)
	if err != nil {
		return err
	}
	factors, err := gguf.Decode(p.scale.typ, packed)
	if err != nil {
		return err
	}
	table := e4m3()
	numbers := make([]float32, cols)
	for row := range p.rows {
		of := factors[row/p.scale.blockRows*p.scale.cols:]
		for i, octet := range stored[row*cols : (row+1)*cols] {
			numbers[i] = table[octet] * of[i/p.scale.blockCols]
		}
		copy(data[2*row*cols:], gguf.Encode(compute.BF16, numbers))
	}
	return nil
}

// e4m3 returns what each byte of the FP8 format E4M3 stands for: a sign, four bits of exponent with
// the bias 7, three bits of fraction. There are no infinities; with all these bits set it is NaN. Source:
// Micikevicius et al., FP8 Formats for Deep Learning, 2022.
func e4m3() (table [256]float32) {
	for octet := range table {
		exponent, fraction := octet>>3&15, float64(octet&7)
		x := math.Ldexp(8+fraction, exponent-10)
		switch {
		case octet&127 == 127:
			x = math.NaN()
		case exponent == 0:
			x = math.Ldexp(fraction, -9)
		}
		if octet >= 128 {
			x = -x
		}
		table[octet] = float32(x)
	}
	return table
}

package sim

import (
	"errors"
	"fmt"
)

// tile says how the matrices of an mma lie in registers. With g = lane/4 and t = lane%4, register i of a holds row g + 8·(i%2) and
// register i of b column g; both hold perRegister neighbours along the inner axis, from perRegister·t + half·(i/2 or i) on.
type tile struct {
	inner, perRegister int // 16 and 2 for halves, 32 or 16 and 4 for bytes
}

func (t tile) registersOfA() int { return t.inner / (4 * t.perRegister) * 2 }
func (t tile) registersOfB() int { return t.inner / (4 * t.perRegister) }

// a is where element (row, k) lies: register, lane and how far it is shifted.
func (t tile) a(row, k int) (register, lane, shift int) {
	half := 4 * t.perRegister
	return row/8 + 2*(k/half), row%8*4 + k%half/t.perRegister, k % t.perRegister * 32 / t.perRegister
}

func (t tile) b(k, column int) (register, lane, shift int) {
	half := 4 * t.perRegister
	return k / half, column*4 + k%half/t.perRegister, k % t.perRegister * 32 / t.perRegister
}

// multiplyTiles is mma.sync of a 16×k and a k×8 tile onto a 16×8 one.
func (c *compiler) multiplyTiles() execute {
	c.need("sync")
	c.need("aligned")
	shape := c.oneOf("m16n8k8", "m16n8k16", "m16n8k32")
	c.need("row")
	c.need("col")
	sum := c.typ("f32", "s32")
	var element string
	var form tile
	if sum == f32 {
		element = c.oneOf("f16", "bf16")
		form = tile{map[string]int{"m16n8k8": 8, "m16n8k16": 16}[shape], 2}
	} else {
		element = c.oneOf("s8")
		form = tile{map[string]int{"m16n8k16": 16, "m16n8k32": 32}[shape], 4}
	}
	c.need(element)
	c.need(sum.String()[1:])
	if form.inner == 0 {
		c.fail("%s does not come in %s", element, shape)
	}
	if !c.operands(4) || c.err != nil {
		return nil
	}
	var d, a, b, s []int
	for _, o := range c.elements(0, 4) {
		d = append(d, c.destination(o, sum, false))
	}
	for _, o := range c.elements(1, form.registersOfA()) {
		a = append(a, c.source(o, b32, false))
	}
	for _, o := range c.elements(2, form.registersOfB()) {
		b = append(b, c.source(o, b32, false))
	}
	for _, o := range c.elements(3, 4) {
		s = append(s, c.source(o, sum, false))
	}
	c.step.flow, c.step.mask = meeting, -1
	return func(w *warp, lanes uint32) error {
		if lanes != everyLane {
			return errors.New("not all lanes of the warp are there")
		}
		if sum == f32 {
			form.multiplyFloats(w, d, a, b, s, element == "bf16")
		} else {
			form.multiplyBytes(w, d, a, b, s)
		}
		return nil
	}
}

// multiplyFloats adds the products in ascending order of the inner index, each step rounded once. Tensor cores have an order of their
// own.
func (t tile) multiplyFloats(w *warp, d, a, b, s []int, bfloat bool) {
	wide := widenHalf
	if bfloat {
		wide = widenBfloat
	}
	var left [16][32]float32
	var right [8][32]float32
	for k := range t.inner {
		for row := range left {
			r, lane, shift := t.a(row, k)
			left[row][k] = wide(uint16(w.registers[a[r]][lane] >> shift))
		}
		for column := range right {
			r, lane, shift := t.b(k, column)
			right[column][k] = wide(uint16(w.registers[b[r]][lane] >> shift))
		}
	}
	var result [4]values
	for l := range 32 {
		for e := range 4 {
			row, column := l/4+e/2*8, l%4*2+e%2
			sum := number32(w.registers[s[e]][l])
			for k := range t.inner {
				sum = fuse(left[row][k], right[column][k], sum)
			}
			result[e][l] = bits32(sum)
		}
	}
	for e := range 4 {
		w.registers[d[e]] = result[e]
	}
}

func (t tile) multiplyBytes(w *warp, d, a, b, s []int) {
	var left [16][32]int32
	var right [8][32]int32
	for k := range t.inner {
		for row := range left {
			r, lane, shift := t.a(row, k)
			left[row][k] = int32(int8(w.registers[a[r]][lane] >> shift))
		}
		for column := range right {
			r, lane, shift := t.b(k, column)
			right[column][k] = int32(int8(w.registers[b[r]][lane] >> shift))
		}
	}
	var result [4]values
	for l := range 32 {
		for e := range 4 {
			row, column := l/4+e/2*8, l%4*2+e%2
			sum := int32(w.registers[s[e]][l])
			for k := range t.inner {
				sum += left[row][k] * right[column][k]
			}
			result[e][l] = uint64(uint32(sum))
		}
	}
	for e := range 4 {
		w.registers[d[e]] = result[e]
	}
}

// loadTiles is ldmatrix: 8×8 tiles of 16-bit elements, the address of row i of tile j comes from lane 8·j + i; lane l gets the
// elements 2·(l%4) and the next of row l/4, or of column l/4 if transposed.
func (c *compiler) loadTiles() execute {
	c.need("sync")
	c.need("aligned")
	c.need("m8n8")
	n := int(c.oneOf("x1", "x2", "x4")[1] - '0')
	transposed := c.take("trans")
	c.oneOf("shared", "shared::cta")
	c.need("b16")
	if !c.operands(2) {
		return nil
	}
	var d []int
	for _, o := range c.elements(0, n) {
		d = append(d, c.destination(o, b32, false))
	}
	from := c.address(1, sharedSpace)
	c.step.flow, c.step.mask = meeting, -1
	return func(w *warp, lanes uint32) error {
		if lanes != everyLane {
			return errors.New("not all lanes of the warp are there")
		}
		var result [4]values
		for j := range n {
			var rows [8][]byte
			for i := range rows {
				lane := 8*j + i
				at := w.registers[from.base][lane] + from.offset
				if at%16 != 0 {
					return laneError{lane, fmt.Errorf("a row of a tile at %#x, which is no multiple of 16", at)}
				}
				data, err := w.access(sharedSpace, at, 16, lane, reading)
				if err != nil {
					return err
				}
				rows[i] = data
			}
			for l := range 32 {
				x, y := l/4, l%4*2
				if transposed {
					result[j][l] = get(rows[y][2*x:], 2) | get(rows[y+1][2*x:], 2)<<16
				} else {
					result[j][l] = get(rows[x][2*y:], 4)
				}
			}
		}
		for j, r := range d {
			w.registers[r] = result[j]
		}
		return nil
	}
}

package sim

import (
	"errors"
	"fmt"
)

// tile says how the registers hold the matrices a and b of an mma. With g = lane/4 and t = lane%4,
// register i of a holds row g + 8·(i%2), and register i of b holds column g. Each register holds
// perRegister neighbours along the inner axis: of a from perRegister·(t + 4·(i/2)) on, of b from
// perRegister·(t + 4·i) on.
type tile struct {
	inner, perRegister int // 16 and 2 for halves, 32 or 16 and 4 for bytes
}

func (t tile) registersOfA() int { return t.inner / (4 * t.perRegister) * 2 }
func (t tile) registersOfB() int { return t.inner / (4 * t.perRegister) }

// a returns where element (row, k) of matrix a is: register, lane, and shift in bits.
func (t tile) a(row, k int) (register, lane, shift int) {
	half := 4 * t.perRegister
	return row/8 + 2*(k/half), row%8*4 + k%half/t.perRegister, k % t.perRegister * 32 / t.perRegister
}

func (t tile) b(k, column int) (register, lane, shift int) {
	half := 4 * t.perRegister
	return k / half, column*4 + k%half/t.perRegister, k % t.perRegister * 32 / t.perRegister
}

// multiplyTiles compiles mma.sync: the product of a 16×k and a k×8 tile is added to a 16×8 one.
func (c *compiler) multiplyTiles() execute {
	c.need("sync")
	c.need("aligned")
	shape := c.oneOf("m16n8k8", "m16n8k16", "m16n8k32")
	c.need("row")
	c.need("col")
	sum, form, widen := c.tile(shape)
	if !c.operands(4) || c.err != nil {
		return nil
	}
	at := form.places()
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
		if widen != nil {
			form.multiplyFloats(w, at, d, a, b, s, widen)
		} else {
			form.multiplyBytes(w, at, d, a, b, s)
		}
		return nil
	}
}

// tile reads the types of a product: those of the sums and of the elements. widen converts an element
// to a float; it is nil for bytes.
func (c *compiler) tile(shape string) (sum scalar, form tile, widen func(uint16) float32) {
	sum = c.typ("f32", "s32")
	kind := ""
	if sum == f32 {
		kind = c.oneOf("f16", "bf16")
		form = tile{map[string]int{"m16n8k8": 8, "m16n8k16": 16}[shape], 2}
		widen = widenHalf
		if kind == "bf16" {
			widen = widenBfloat
		}
	} else {
		kind = c.oneOf("s8")
		form = tile{map[string]int{"m16n8k16": 16, "m16n8k32": 32}[shape], 4}
	}
	c.need(kind)
	c.need(sum.String()[1:])
	if form.inner == 0 {
		c.fail("%s does not come in %s", kind, shape)
	}
	return sum, form, widen
}

// element says where one element of a tile is: see tile.a.
type element struct{ register, lane, shift uint8 }

// places says where the elements of both tiles lie: those of a by row and inner index, those of b by column and
// inner index.
type places struct {
	a [16][32]element
	b [8][32]element
}

func (t tile) places() *places {
	p := new(places)
	for k := range t.inner {
		for row := range p.a {
			p.a[row][k] = elementAt(t.a(row, k))
		}
		for column := range p.b {
			p.b[column][k] = elementAt(t.b(k, column))
		}
	}
	return p
}

func elementAt(register, lane, shift int) element {
	return element{uint8(register), uint8(lane), uint8(shift)}
}

func (e element) of(w *warp, registers []int) uint64 {
	return w.registers[registers[e.register]][e.lane&31] >> (e.shift & 31)
}

// multiplyFloats adds the products in ascending order of the inner index, and rounds each step
// once. Real tensor cores have an order of their own.
func (t tile) multiplyFloats(w *warp, at *places, d, a, b, s []int, widen func(uint16) float32) {
	var left [16][32]float32
	var right [8][32]float32
	for k := range t.inner {
		for row := range left {
			left[row][k] = widen(uint16(at.a[row][k].of(w, a)))
		}
		for column := range right {
			right[column][k] = widen(uint16(at.b[column][k].of(w, b)))
		}
	}
	eachResult(w, d, s, func(row, column int, u uint64) uint64 {
		sum := number32(u)
		x, y := left[row][:t.inner], right[column][:t.inner]
		for k := range x {
			sum = fuse(x[k], y[k], sum)
		}
		return bits32(sum)
	})
}

func (t tile) multiplyBytes(w *warp, at *places, d, a, b, s []int) {
	var left [16][32]int32
	var right [8][32]int32
	for k := range t.inner {
		for row := range left {
			left[row][k] = int32(int8(at.a[row][k].of(w, a)))
		}
		for column := range right {
			right[column][k] = int32(int8(at.b[column][k].of(w, b)))
		}
	}
	eachResult(w, d, s, func(row, column int, u uint64) uint64 {
		sum := int32(u)
		x, y := left[row][:t.inner], right[column][:t.inner]
		for k := range x {
			sum += x[k] * y[k]
		}
		return uint64(uint32(sum))
	})
}

// eachResult computes the elements of the 16×8 tile d from those of s. Element e of a lane is in
// row lane/4 + 8·(e/2) and column 2·(lane%4) + e%2.
func eachResult(w *warp, d, s []int, f func(row, column int, sum uint64) uint64) {
	var result [4]values
	for e := range result {
		for l := range 32 {
			result[e][l] = f(l/4+e/2*8, l%4*2+e%2, w.registers[s[e]][l])
		}
	}
	for e := range result {
		w.registers[d[e]] = result[e]
	}
}

// loadTiles compiles ldmatrix, which loads 8×8 tiles of 16-bit elements. The address of row i of
// tile j comes from lane 8·j + i. Lane l gets elements 2·(l%4) and 2·(l%4)+1 of row l/4, or of
// column l/4 if transposed.
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

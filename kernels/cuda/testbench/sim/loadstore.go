package sim

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// address is where an instruction reads or writes: a register plus an offset, in a state space.
type address struct {
	space  space
	base   int
	offset uint64
}

// address reads operand i. An instruction may name a variable of its own state space.
func (c *compiler) address(i int, where space) address {
	o := c.operand(i)
	if o.kind != addressOperand {
		c.fail("%s is no address; one stands in brackets", o.text)
		return address{}
	}
	base := o.elements[0]
	a := address{space: where, offset: o.value}
	switch {
	case base.kind == symbolOperand:
		v := c.kernel.variable(base.text)
		if v == nil || v.space != where {
			c.fail("%s is no variable in %v memory", base.text, where)
			return a
		}
		a.base = c.symbol(base.text, u64)
	case base.kind == registerOperand && base.scalar.bits == 32 &&
		(where == sharedSpace || where == localSpace):
		a.base = c.source(base, b32, false)
	default:
		a.base = c.source(base, u64, false)
	}
	return a
}

// touches records the size of an access that may be to shared memory, for Kernel.grain.
func (c *compiler) touches(where space, bytes int) {
	if where == sharedSpace || where == generic {
		c.kernel.grain = min(c.kernel.grain, bits.TrailingZeros(uint(bytes)))
	}
}

var memoryTypes = []string{"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64",
	"u64", "s64", "f64"}

// place reads the state space, and skips modifiers of ld and st that do not change the result.
func (c *compiler) place() space {
	for c.nextIs("volatile", "relaxed", "weak", "gpu", "cta", "sys", "acquire", "release") {
		c.rest = c.rest[1:]
	}
	where := generic
	if c.nextIs("global", "shared", "local", "const", "param") {
		where = spaces[c.oneOf("global", "shared", "local", "const", "param")]
	}
	for c.nextIs("nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::no_allocate", "L1::evict_last",
		"L1::evict_first", "L1::evict_unchanged",
		"L1::evict_normal", "L2::64B", "L2::128B", "L2::256B") {
		if c.rest[0] == "nc" && where != global {
			c.unknown()
			return where
		}
		c.rest = c.rest[1:]
	}
	return where
}

// vectorType reads .v2 or .v4, and the type.
func (c *compiler) vectorType() (n int, t scalar) {
	n = 1
	if c.nextIs("v2", "v4") {
		n = int(c.oneOf("v2", "v4")[1] - '0')
	}
	t = c.typ(memoryTypes...)
	if n*t.bits > 128 {
		c.fail("a vector of %d bits; the most are 128", n*t.bits)
	}
	return n, t
}

func (c *compiler) load() execute {
	how := reading
	if slices.Contains(c.rest, "nc") {
		how = readingOnly
	}
	where := c.place()
	n, t := c.vectorType()
	if !c.operands(2) {
		return nil
	}
	var to []int
	var masks []uint64
	for _, o := range c.elements(0, n) {
		to = append(to, c.destination(o, t, true))
		masks = append(masks, o.scalar.mask())
	}
	if where == parameterSpace {
		return c.loadParameter(to, masks, t)
	}
	from := c.address(1, where)
	c.touches(where, n*t.bytes())
	bytes, value := t.bytes(), extend(t)
	if n == 1 && t.kind != signed {
		return loadOne(to[0], from, bytes, how)
	}
	return func(w *warp, lanes uint32) error {
		base := &w.registers[from.base]
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			data, err := w.access(from.space, base[l]+from.offset, n*bytes, l, how)
			if err != nil {
				return err
			}
			for i, d := range to {
				w.registers[d][l] = value(get(data[i*bytes:], bytes)) & masks[i]
			}
		}
		return nil
	}
}

// loadOne is the most frequent load: one value without sign extension.
func loadOne(d int, from address, bytes int, how use) execute {
	return func(w *warp, lanes uint32) error {
		base, to := &w.registers[from.base], &w.registers[d]
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			data, err := w.access(from.space, base[l]+from.offset, bytes, l, how)
			if err != nil {
				return err
			}
			to[l] = get(data, bytes)
		}
		return nil
	}
}

// loadParameter reads [name+offset] of the kernel's parameters.
func (c *compiler) loadParameter(to []int, masks []uint64, t scalar) execute {
	o := c.operand(1)
	if o.kind != addressOperand || o.elements[0].kind != symbolOperand {
		c.fail("%s is no parameter", o.text)
		return nil
	}
	for _, p := range c.kernel.parameters {
		if p.name != o.elements[0].text {
			continue
		}
		if end := o.value + uint64(len(to)*t.bytes()); end > uint64(p.bytes) {
			c.fail("%d bytes at %d of parameter %s, which has %d", len(to)*t.bytes(), o.value,
				p.name, p.bytes)
			return nil
		}
		at, bytes, value := p.offset+int(o.value), t.bytes(), extend(t)
		return func(w *warp, lanes uint32) error {
			for i, d := range to {
				x := value(get(w.block.parameters[at+i*bytes:], bytes)) & masks[i]
				for m := lanes; m != 0; m &= m - 1 {
					w.registers[d][lowest(m)] = x
				}
			}
			return nil
		}
	}
	c.fail("the kernel has no parameter %s", o.elements[0].text)
	return nil
}

func (c *compiler) store() execute {
	where := c.place()
	n, t := c.vectorType()
	if !c.operands(2) {
		return nil
	}
	if where == parameterSpace || where == constantSpace {
		c.fail("%v memory cannot be written", where)
	}
	to := c.address(0, where)
	c.touches(where, n*t.bytes())
	var from []int
	for _, o := range c.elements(1, n) {
		from = append(from, c.source(o, t, true))
	}
	bytes := t.bytes()
	return func(w *warp, lanes uint32) error {
		base := &w.registers[to.base]
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			data, err := w.access(to.space, base[l]+to.offset, n*bytes, l, writing)
			if err != nil {
				return err
			}
			for i, a := range from {
				put(data[i*bytes:], bytes, w.registers[a][l])
			}
		}
		return nil
	}
}

func get(p []byte, bytes int) uint64 {
	switch bytes {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

func put(p []byte, bytes int, v uint64) {
	switch bytes {
	case 1:
		p[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, v)
	}
}

// access checks that a lane may access n bytes at an address, and returns the bytes.
func (w *warp) access(where space, at uint64, n, lane int, how use) ([]byte, error) {
	if at&uint64(n-1) != 0 {
		return nil, laneError{lane,
			fmt.Errorf("an access of %d bytes at address %#x, which is no multiple of %d", n, at, n)}
	}
	if where == generic {
		where, at = split(at)
	}
	var data []byte
	var err error
	switch where {
	case sharedSpace:
		if err = w.block.sharedAt(at, n); err == nil {
			if err = w.block.touch(w, lane, int(at), n, how); err == nil {
				return w.block.shared[at : at+uint64(n)], nil
			}
		}
	case localSpace:
		if end := at + uint64(n); end <= uint64(len(w.local[lane])) && at < end {
			return w.local[lane][at:end], nil
		}
		err = fmt.Errorf("%d bytes at %d of %d bytes of local memory", n, int64(at), len(w.local[lane]))
	default:
		if data, err = w.block.memory.at(at, n, &w.hint); err == nil {
			w.hint.note(how)
			return data, nil
		}
	}
	return nil, laneError{lane, err}
}

// split returns the state space of a generic address, and the address in it.
func split(at uint64) (space, uint64) {
	switch {
	case at >= localWindow && at < localWindow+windowBytes:
		return localSpace, at - localWindow
	case at >= sharedWindow && at < sharedWindow+windowBytes:
		return sharedSpace, at - sharedWindow
	}
	return global, at
}

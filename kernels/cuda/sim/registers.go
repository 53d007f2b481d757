package sim

// values of a register in the 32 lanes. Bits beyond the register's size are zero.
type values [32]uint64

const everyLane = ^uint32(0)

// constant is a register that is written before a kernel starts and never again, but for the sink, which nobody reads.
type constant struct {
	value    uint64
	variable *variable // whose address it is, if not nil
	special  string    // %tid.x and the like: not constant between lanes, but within a block
	sink     bool
}

// constant returns the register that holds what, after all declared ones.
func (k *Kernel) constant(what constant) int {
	for i, c := range k.constants {
		if c == what {
			return len(k.registers) + i
		}
	}
	k.constants = append(k.constants, what)
	return len(k.registers) + len(k.constants) - 1
}

var specialNames = map[string]func(b *block, thread int) uint32{
	"%tid.x":       func(b *block, t int) uint32 { return uint32(t % b.size.X) },
	"%tid.y":       func(b *block, t int) uint32 { return uint32(t / b.size.X % b.size.Y) },
	"%tid.z":       func(b *block, t int) uint32 { return uint32(t / b.size.X / b.size.Y) },
	"%ntid.x":      func(b *block, t int) uint32 { return uint32(b.size.X) },
	"%ntid.y":      func(b *block, t int) uint32 { return uint32(b.size.Y) },
	"%ntid.z":      func(b *block, t int) uint32 { return uint32(b.size.Z) },
	"%ctaid.x":     func(b *block, t int) uint32 { return uint32(b.place.X) },
	"%ctaid.y":     func(b *block, t int) uint32 { return uint32(b.place.Y) },
	"%ctaid.z":     func(b *block, t int) uint32 { return uint32(b.place.Z) },
	"%nctaid.x":    func(b *block, t int) uint32 { return uint32(b.grid.X) },
	"%nctaid.y":    func(b *block, t int) uint32 { return uint32(b.grid.Y) },
	"%nctaid.z":    func(b *block, t int) uint32 { return uint32(b.grid.Z) },
	"%laneid":      func(b *block, t int) uint32 { return uint32(t % 32) },
	"%warpid":      func(b *block, t int) uint32 { return uint32(t / 32) },
	"%lanemask_eq": func(b *block, t int) uint32 { return 1 << (t % 32) },
	"%lanemask_lt": func(b *block, t int) uint32 { return 1<<(t%32) - 1 },
	"%lanemask_le": func(b *block, t int) uint32 { return 2<<(t%32) - 1 },
	"%lanemask_gt": func(b *block, t int) uint32 { return ^uint32(2<<(t%32) - 1) },
	"%lanemask_ge": func(b *block, t int) uint32 { return ^uint32(1<<(t%32) - 1) },
}

func isSpecial(name string) bool { return specialNames[name] != nil }

// poison is what a register holds before it is written.
const poison = 0x7fc0dead

// fresh gives a warp's registers their first values.
func (w *warp) fresh() {
	k, b := w.block.kernel, w.block
	for i, r := range k.registers {
		for l := range w.registers[i] {
			w.registers[i][l] = poison & r.scalar.mask()
		}
	}
	clear(w.predicates)
	for i, c := range k.constants {
		if read := specialNames[c.special]; read != nil {
			for l := range 32 {
				w.registers[len(k.registers)+i][l] = uint64(read(b, w.first+l))
			}
		}
	}
}

// setConstants gives the registers behind the declared ones their values, once a launch.
func (w *warp) setConstants() {
	k := w.block.kernel
	for i, c := range k.constants {
		value := c.value
		if v := c.variable; v != nil {
			value = w.block.addressOf(v)
		}
		for l := range 32 {
			w.registers[len(k.registers)+i][l] = value
		}
	}
}

package sim

// values are a register's values in the 32 lanes. Bits beyond the register's size are zero.
type values [32]uint64

const everyLane = ^uint32(0)

// constant is a register that is written only before a block starts. The sink is an exception: it is
// written at any time and never read.
type constant struct {
	value    uint64
	variable *variable // whose address it is, if not nil
	special  string    // %tid.x and others: in each lane fixed for a block, but lanes may have different values
	sink     bool
}

// constant returns the register with the constant what. Such registers follow the declared ones.
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
	copy(w.registers, b.registers)
	clear(w.predicates)
	for i, c := range k.constants {
		if read := specialNames[c.special]; read != nil {
			for l := range 32 {
				w.registers[len(k.registers)+i][l] = uint64(read(b, w.first+l))
			}
		}
	}
}

// firstRegisters are the registers of every warp before it starts: poison in the declared ones,
// then the constants.
func (b *block) firstRegisters() []values {
	k := b.kernel
	list := make([]values, len(k.registers)+len(k.constants))
	for i := range list {
		var value uint64
		if i < len(k.registers) {
			value = poison & k.registers[i].scalar.mask()
		} else if c := k.constants[i-len(k.registers)]; c.variable != nil {
			value = b.addressOf(c.variable)
		} else {
			value = c.value
		}
		for l := range list[i] {
			list[i][l] = value
		}
	}
	return list
}

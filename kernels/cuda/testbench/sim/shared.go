package sim

import "fmt"

// Static arrays in shared memory begin after reserved bytes, as on hardware. There are gaps between
// them, so that an overrun is noticed: PTX does not promise that one array follows another.
const (
	sharedReserved = 1024
	sharedGap      = 128
	staticMost     = 48 << 10
)

// placeArrays gives every array in shared and local memory its offset.
func (k *Kernel) placeArrays() {
	offset := sharedReserved
	for _, v := range k.arrays {
		switch {
		case v.space == localSpace:
			k.localSize = (k.localSize + v.align - 1) / v.align * v.align
			v.offset = k.localSize
			k.localSize += v.bytes
		case !v.external:
			offset = (offset + sharedGap + v.align - 1) / v.align * v.align
			v.offset = offset
			offset += v.bytes
		}
	}
	offset = (offset + 2*sharedGap - 1) / sharedGap * sharedGap
	k.sharedSize = offset
	k.owner = make([]byte, offset)
	for i, v := range k.arrays {
		if v.external {
			continue
		}
		for j := range v.bytes {
			if v.space == sharedSpace {
				k.owner[v.offset+j] = byte(1 + i%255)
			}
		}
	}
}

// offset returns where an array of this kernel begins in shared or local memory. External arrays all begin
// after the static ones of shared memory, in the memory that the launch asks for.
func (k *Kernel) offset(v *variable) int {
	if v.external {
		return k.sharedSize
	}
	return v.offset
}

func (k *Kernel) staticBytes() (n int) {
	for _, v := range k.arrays {
		if v.space == sharedSpace {
			n += v.bytes
		}
	}
	return n
}

func (k *Kernel) variable(name string) *variable {
	for _, v := range k.arrays {
		if v.name == name {
			return v
		}
	}
	for _, v := range k.module.variables {
		if v.name == name {
			return v
		}
	}
	return nil
}

// sharedAt checks that n bytes at an offset of shared memory are inside an array.
func (b *block) sharedAt(offset uint64, n int) error {
	last := offset + uint64(n) - 1
	size := uint64(b.kernel.sharedSize)
	switch {
	case offset >= size && last < uint64(len(b.shared)):
		return nil
	case offset < size && last < size && b.kernel.owner[offset] != 0 &&
		b.kernel.owner[offset] == b.kernel.owner[last]:
		return nil
	case offset >= size:
		return fmt.Errorf("%d bytes at offset %d of %d bytes of dynamic shared memory", n, offset-size,
			len(b.shared)-int(size))
	}
	return fmt.Errorf("%d bytes of shared memory at %d, %s", n, offset, b.kernel.nearest(offset))
}

// nearest describes an offset in shared memory by the array before it.
func (k *Kernel) nearest(offset uint64) string {
	var best *variable
	for _, v := range k.arrays {
		if v.space == sharedSpace && !v.external && uint64(v.offset) <= offset &&
			(best == nil || v.offset > best.offset) {
			best = v
		}
	}
	if best == nil {
		return "before every array"
	}
	return fmt.Sprintf("byte %d of array %s of %d bytes", offset-uint64(best.offset), best.name, best.bytes)
}

// describe names a byte of shared memory for a message.
func (b *block) describe(offset int) string {
	if size := b.kernel.sharedSize; offset >= size {
		return fmt.Sprintf("byte %d of dynamic shared memory", offset-size)
	}
	return b.kernel.nearest(uint64(offset))
}

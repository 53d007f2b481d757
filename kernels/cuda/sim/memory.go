package sim

import (
	"fmt"
	"slices"
	"sort"
	"sync"
)

// Pointer is an address in the memory of a Machine.
type Pointer uint64

// Generic addresses of the state spaces. Allocations lie far beyond 32 bits, so that a truncated address is noticed.
const (
	firstAddress = 0x10_0000_0000
	sharedWindow = 0x7e00_0000_0000
	localWindow  = 0x7f00_0000_0000
	windowBytes  = 1 << 32
	gapBytes     = 4096 // between allocations, so that running over the end of one does not reach another
)

type allocation struct {
	at    uint64
	bytes []byte
}

// memory is what blocks see of a Machine's allocations, in ascending order.
type memory struct {
	list    []allocation
	top     uint64
	atomics sync.Mutex // held by an atomic operation on global memory: blocks run at the same time
}

func (m *memory) allocate(n int) Pointer {
	if m.top == 0 {
		m.top = firstAddress
	}
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = 0xff
	}
	at := m.top
	m.list = append(m.list, allocation{at, bytes})
	m.top = (at + uint64(n) + gapBytes + 511) &^ 511
	return Pointer(at)
}

// find returns the index of the allocation that address lies in or behind, or -1.
func (m *memory) find(address uint64) int {
	return sort.Search(len(m.list), func(i int) bool { return m.list[i].at > address }) - 1
}

func (m *memory) free(p Pointer) error {
	i := m.find(uint64(p))
	if i < 0 || m.list[i].at != uint64(p) {
		return fmt.Errorf("%#x is not the beginning of an allocation", p)
	}
	m.list = slices.Delete(m.list, i, i+1)
	return nil
}

// at returns the n bytes at address. hint is the allocation of the access before.
func (m *memory) at(address uint64, n int, hint *allocation) ([]byte, error) {
	if offset := address - hint.at; address >= hint.at && offset+uint64(n) <= uint64(len(hint.bytes)) {
		return hint.bytes[offset : offset+uint64(n) : offset+uint64(n)], nil
	}
	i := m.find(address)
	if i < 0 {
		return nil, fmt.Errorf("address %#x is in no allocation", address)
	}
	a := m.list[i]
	offset := address - a.at
	if offset+uint64(n) > uint64(len(a.bytes)) {
		return nil, fmt.Errorf("%d bytes at offset %d of an allocation of %d bytes", n, int64(offset), len(a.bytes))
	}
	*hint = a
	return a.bytes[offset : offset+uint64(n) : offset+uint64(n)], nil
}

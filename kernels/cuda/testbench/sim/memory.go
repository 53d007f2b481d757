package sim

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Pointer is an address in the memory of a Machine.
type Pointer uint64

// Generic addresses of the state spaces. Allocations are far beyond 32 bits, so that a truncated
// address is noticed.
const (
	firstAddress = 0x10_0000_0000
	sharedWindow = 0x7e00_0000_0000
	localWindow  = 0x7f00_0000_0000
	windowBytes  = 1 << 32
	gapBytes     = 4096 // between allocations, so that an overrun does not reach the next
)

type allocation struct {
	at    uint64
	bytes []byte
	uses  *atomic.Uint32 // the kinds of use in this launch, a bit for each
}

// note records that a kind of use of the allocation occurs in this launch.
func (a *allocation) note(how use) {
	if bit := uint32(1) << how; a.uses.Load()&bit == 0 {
		a.uses.Or(bit)
	}
}

// forgetUses forgets uses and prefetches of earlier launches. It is called when a launch begins.
func (m *memory) forgetUses() {
	m.prefetched = nil
	for _, a := range m.list {
		a.uses.Store(0)
	}
}

// checkUses, at the end of a launch, refuses allocations that ld.global.nc has read and the kernel has
// written: the cache of that load does not see changes. It checks whole allocations; in tests, each
// array has its own.
func (m *memory) checkUses() error {
	for _, a := range m.list {
		if u := a.uses.Load(); u&(1<<readingOnly) != 0 && u&(1<<writing|1<<updating) != 0 {
			return fmt.Errorf("an allocation of %d bytes at %#x is read by ld.global.nc and written in the same launch", len(a.bytes), a.at)
		}
	}
	return nil
}

// memory is the global memory of a Machine: its allocations, in ascending order of addresses.
type memory struct {
	list    []allocation
	top     uint64
	atomics sync.Mutex // held by atomic operations on global memory, since blocks run in parallel

	prefetches sync.Mutex // guards prefetched
	prefetched []Pointer
}

func (m *memory) notePrefetch(address uint64) {
	m.prefetches.Lock()
	m.prefetched = append(m.prefetched, Pointer(address))
	m.prefetches.Unlock()
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
	m.list = append(m.list, allocation{at, bytes, new(atomic.Uint32)})
	m.top = (at + uint64(n) + gapBytes + 511) &^ 511
	return Pointer(at)
}

// find returns the index of the last allocation that starts at or before address, or -1.
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
		return nil, fmt.Errorf("%d bytes at offset %d of an allocation of %d bytes", n,
			int64(offset), len(a.bytes))
	}
	*hint = a
	return a.bytes[offset : offset+uint64(n) : offset+uint64(n)], nil
}

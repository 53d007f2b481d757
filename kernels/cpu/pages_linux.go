package cpu

import (
	"syscall"
	"unsafe"
)

const (
	largePage = 2 << 20
	// leastInLargePages are bytes that are worth asking for: what the second cache holds is found without.
	leastInLargePages = 1 << 20
)

// inLargePages asks for pages of 2 MiB behind weights, before they are written. They are read from one end to the other for every token, and the
// processor foresees no further than to the end of a page. Where there are no such pages nothing changes.
//
// What lies beside data in its first and last page is asked for, too: matrices allocated one after another share those pages, and each by itself
// would leave them small.
func inLargePages[N any](data []N) {
	bytes := uintptr(len(data)) * unsafe.Sizeof(*new(N))
	if bytes < leastInLargePages {
		return
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	end := (first + bytes + largePage - 1) &^ (largePage - 1)
	first &^= largePage - 1
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, first, end-first, syscall.MADV_HUGEPAGE)
}

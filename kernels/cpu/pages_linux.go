package cpu

import (
	"syscall"
	"unsafe"
)

const (
	largePage = 2 << 20
	// Large pages are not requested for smaller matrices. A model of many small matrices needs large pages
	// as much as one of a few large ones: all its weights are read for each token.
	leastInLargePages = 32 << 10
)

// inLargePages asks for pages of 2 MiB for weights, before they are written. For every token the
// weights are read from start to end, and the processor's own prefetching stops at the end of each
// page. On systems without such pages nothing changes.
//
// The request includes the whole first and last page, whatever else lies in them. Matrices that are
// allocated one after the other share these pages. If a request left them out, the system would divide
// them into small pages.
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

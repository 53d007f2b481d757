package weights

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// availableMemory returns how many bytes the system can give out without swapping, but at most the limit in
// /sys/fs/cgroup/memory.max. In a container this is the limit of its control group. What the group uses already
// is not subtracted.
func availableMemory() (n int64, known bool) {
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	n, known = memAvailable(meminfo)
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if most, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil { // "max" means no limit
			return min(most, n), known
		}
	}
	return n, known
}

// memAvailable reads the line "MemAvailable: 123 kB".
func memAvailable(meminfo []byte) (n int64, known bool) {
	for lines := bufio.NewScanner(bytes.NewReader(meminfo)); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		return kib << 10, err == nil && kib >= 0 && kib <= math.MaxInt64>>10
	}
	return 0, false
}

// discard gives whole pages of data[from:to] back to the system; they then read as zeros. Large
// allocations begin at a page boundary. If one does not, the system refuses and the pages stay.
// discard also cancels inLargePages for these pages. Otherwise the system would later fill up again each
// page of 2 MiB of which a few bytes remain, such as a norm between two matrices. Then most of the file
// would be in memory again.
func discard(data []byte, from, to int) {
	page := os.Getpagesize()
	from, to = (from+page-1)/page*page, to/page*page
	if from < to {
		_ = syscall.Madvise(data[from:to], syscall.MADV_DONTNEED)
		_ = syscall.Madvise(data[from:to], syscall.MADV_NOHUGEPAGE)
	}
}

// inLargePages asks the system for pages of 2 MiB for data. Call it before data is written. Each token
// reads the weights from start to end, and the processor prefetches only up to the end of a page. On
// systems without such pages this has no effect.
func inLargePages(data []byte) {
	if whole := len(data) / os.Getpagesize() * os.Getpagesize(); whole > 0 {
		_ = syscall.Madvise(data[:whole], syscall.MADV_HUGEPAGE)
	}
}

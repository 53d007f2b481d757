//go:build !linux

package weights

// availableMemory is not known here; only the address space bounds a load.
func availableMemory() (n int64, known bool) { return 1 << 40, true }

// discard does nothing: the data are freed with the File.
func discard([]byte, int, int) {}

// inLargePages does nothing: these systems choose for themselves.
func inLargePages([]byte) {}

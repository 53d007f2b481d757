//go:build !linux

package weights

// availableMemory is not known here. The limit is far above any file, so only the address space
// bounds a load.
func availableMemory() (n int64, known bool) { return 1 << 40, true }

// discard does nothing: the garbage collector frees the data with the File.
func discard([]byte, int, int) {}

// inLargePages does nothing: these systems choose the page size themselves.
func inLargePages([]byte) {}

//go:build !linux

package weights

// availableMemory is not known on this system. The result is far above the size of any file, so only
// the address space limits what can be loaded.
func availableMemory() (n int64, known bool) { return 1 << 40, true }

// discard does nothing: the garbage collector frees the data with the File.
func discard([]byte, int, int) {}

// inLargePages does nothing: these systems choose the page size themselves.
func inLargePages([]byte) {}

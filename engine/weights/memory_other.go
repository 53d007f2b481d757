//go:build !linux

package weights

// availableMemory is not known on this system, so nothing is refused before memory is allocated.
func availableMemory() (n int64, known bool) { return 0, false }

// discard does nothing: the garbage collector frees the data with the File.
func discard([]byte, int, int) {}

// inLargePages does nothing: these systems choose the page size themselves.
func inLargePages([]byte) {}

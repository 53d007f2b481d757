//go:build !linux

package cpu

// inLargePages does nothing: these systems choose the page size themselves.
func inLargePages[N any]([]N) {}

//go:build !linux

package cpu

// inLargePages does nothing: these systems choose for themselves.
func inLargePages[N any]([]N) {}

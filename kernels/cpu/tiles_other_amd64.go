//go:build !linux && !noasm

package cpu

// tilesPermitted returns false: AMX is used on Linux only.
func tilesPermitted() bool { return false }

//go:build !linux && !noasm

package cpu

// tilesPermitted is false: how other systems are asked for the tile registers has not been tried.
func tilesPermitted() bool { return false }

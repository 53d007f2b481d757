//go:build !linux && !noasm

package cpu

// tilesPermitted returns false. How to ask other systems for the tile registers was not tried.
func tilesPermitted() bool { return false }

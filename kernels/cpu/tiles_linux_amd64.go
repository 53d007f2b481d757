//go:build !noasm

package cpu

import "syscall"

// tilesPermitted asks Linux to let this process use the tile registers of AMX, and reports whether it
// may. A process must ask before it first uses them, because they enlarge its saved state. Older
// systems, and systems that forbid it, refuse.
func tilesPermitted() bool {
	const requestPermission, tileData = 0x1023, 18
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
}

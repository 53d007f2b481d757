//go:build !noasm

package cpu

import "syscall"

// tilesPermitted asks Linux to let this process use the tile registers, which it has to before it first does: their contents take so
// much room that the system sets none aside for processes that do not ask. An older system, or one that forbids it, says no.
func tilesPermitted() bool {
	const requestPermission, tileData = 0x1023, 18
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
}

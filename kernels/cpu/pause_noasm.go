//go:build !amd64 || noasm

package cpu

// pause would tell the processor that this thread is waiting. Go has no way to do this without
// assembly.
func pause() {}

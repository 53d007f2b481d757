//go:build !amd64 || noasm

package cpu

// pause does nothing: only the assembly for amd64 tells the processor that this thread is waiting.
func pause() {}

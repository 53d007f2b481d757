//go:build !amd64 || noasm

package cpu

// pause would tell the processor that this thread is waiting. Go has no way to do this without
// assembly.
func pause() {}

// spinsPerPause is the number of loop turns without a pause instruction that take as long as one
// with it.
const spinsPerPause = 16

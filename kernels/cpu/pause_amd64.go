//go:build !noasm

package cpu

// spinsPerPause is 1, because every turn of a waiting loop runs the pause instruction.
const spinsPerPause = 1

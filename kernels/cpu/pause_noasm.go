//go:build !amd64 || noasm

package cpu

// pause is where a processor would be told that this thread is waiting. Go has no word for it.
func pause() {}

// spinsPerPause is how often one has to look for as long as with a pause in between.
const spinsPerPause = 16

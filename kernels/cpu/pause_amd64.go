//go:build !noasm

package cpu

// spinsPerPause is how often one has to look for as long as with a pause in between.
const spinsPerPause = 1

//go:build !noasm

package cpu

// peakLanes is how many numbers of 32 bits a register of the level in use holds.
func peakLanes() int {
	if level == NEON {
		return 4
	}
	return 0
}

func peakFloat(n int)   { peakFloatNEON(n) }
func peakInteger(n int) { peakIntegerNEON(n) }

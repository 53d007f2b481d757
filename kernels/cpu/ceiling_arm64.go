//go:build !noasm

package cpu

// peakLanes returns how many 32-bit numbers a register of the current level holds.
func peakLanes() int {
	if level == NEON {
		return 4
	}
	return 0
}

func peakFloat(n int)   { peakFloatNEON(n) }
func peakInteger(n int) { peakIntegerNEON(n) }

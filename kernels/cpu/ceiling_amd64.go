//go:build !noasm

package cpu

// peakLanes returns how many 32-bit numbers a register of the current level holds.
func peakLanes() int { return []int{Portable: 0, AVX2: 8, AVX512: 16, AMX: 16}[level] }

func peakFloat(n int) {
	if level >= AVX512 {
		peakFloatAVX512(n)
	} else {
		peakFloatAVX2(n)
	}
}

func peakInteger(n int) {
	if level >= AVX512 {
		peakIntegerAVX512(n)
	} else {
		peakIntegerAVX2(n)
	}
}

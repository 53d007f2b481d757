//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// Levels returns the levels that this processor and the operating system support, in ascending
// order.
func Levels() []Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasF16C || !x.HasFMA:
		return []Level{Portable}
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI:
		return []Level{Portable, AVX2}
	case !x.HasAMXTile || !x.HasAMXInt8 || !tilesPermitted():
		return []Level{Portable, AVX2, AVX512}
	}
	return []Level{Portable, AVX2, AVX512, AMX}
}

//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// Highest is the highest level that this processor and the operating system offer.
func Highest() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasF16C || !x.HasFMA:
		return Portable
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI:
		return AVX2
	}
	if x.HasAMXTile && x.HasAMXInt8 && tilesPermitted() {
		return AMX
	}
	return AVX512
}

//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// Levels returns the levels that this processor supports, in ascending order.
func Levels() []Level {
	if !cpu.ARM64.HasASIMD || !cpu.ARM64.HasASIMDDP {
		return []Level{Portable}
	}
	return []Level{Portable, NEON}
}

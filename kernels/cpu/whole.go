//go:build (amd64 || arm64) && !noasm

package cpu

// whole returns how many of n numbers the assembly processes: the largest multiple of step, or 0 on the
// portable level. Portable code processes the rest.
func whole(n, step int) int {
	if level == Portable {
		return 0
	}
	return n - n%step
}

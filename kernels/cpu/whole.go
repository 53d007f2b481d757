//go:build (amd64 || arm64) && !noasm

package cpu

// whole is how many of n numbers the assembly takes, in steps of step; the others are left to portable code.
func whole(n, step int) int {
	if level == Portable {
		return 0
	}
	return n - n%step
}

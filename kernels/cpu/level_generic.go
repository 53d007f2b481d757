//go:build !amd64 || noasm

package cpu

// Highest is the highest level there is without assembly.
func Highest() Level { return Portable }

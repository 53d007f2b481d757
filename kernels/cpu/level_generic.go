//go:build (!amd64 && !arm64) || noasm

package cpu

// Levels is the one level there is without assembly.
func Levels() []Level { return []Level{Portable} }

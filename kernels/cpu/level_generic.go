//go:build (!amd64 && !arm64) || noasm

package cpu

// Levels returns the only level without assembly.
func Levels() []Level { return []Level{Portable} }

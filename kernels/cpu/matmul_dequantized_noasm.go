//go:build !amd64 || noasm

package cpu

// decodes returns false: without assembly, decode and multiplyColumns are never called.
func decodes() bool { return false }

func decode(Format, []float32, []byte, int, int)       {}
func multiplyColumns(_, _, _ []float32, m, stride int) {}

//go:build !amd64 || noasm

package cpu

// decodes reports whether this level has decode and multiplyColumns, which are never called if not.
func decodes() bool { return false }

func decode(Format, []float32, []byte, int, int)       {}
func multiplyColumns(_, _, _ []float32, m, stride int) {}

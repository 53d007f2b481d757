//go:build !amd64 || noasm

package cpu

// flushLines does nothing: without assembly, no measurement needs memory removed from the caches.
func flushLines(memory *byte, lines int) {}

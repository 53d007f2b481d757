//go:build (!amd64 && !arm64) || noasm

package cpu

func peakLanes() int    { return 0 }
func peakFloat(n int)   {}
func peakInteger(n int) {}

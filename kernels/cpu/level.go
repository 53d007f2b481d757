package cpu

import (
	"fmt"
	"slices"
)

// Level is a set of processor instructions that kernels are written for. Every level gives the same
// bits.
type Level int

// The levels. On one processor each level includes those before it.
const (
	Portable Level = iota // Go
	AVX2                  // amd64, with F16C and FMA3
	AVX512                // amd64: F, BW, DQ, VL and VNNI
	AMX                   // amd64: AVX512, and tile products of bytes
	NEON                  // arm64, with dot products of bytes (FEAT_DotProd)
)

func (l Level) String() string {
	names := [...]string{"portable", "AVX2", "AVX-512", "AVX-512 and AMX", "NEON"}
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return names[l]
}

// Highest returns the highest level that this processor and the operating system support.
func Highest() Level {
	all := Levels()
	return all[len(all)-1]
}

// level is the current level. Only tests change it, and only between tasks.
var level = Highest()

// ActiveLevel returns the level that kernels run on.
func ActiveLevel() Level { return level }

// SetLevel makes a test run on another level of this processor, until restore is called. No task
// may be running.
func SetLevel(l Level) (restore func()) {
	if !slices.Contains(Levels(), l) {
		panic(fmt.Sprintf("cpu: this processor has no level %v", l))
	}
	before := level
	level = l
	return func() { level = before }
}

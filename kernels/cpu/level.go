package cpu

import "fmt"

// Level is a set of processor instructions that the kernels are written for. Every level gives the same bits.
type Level int

// The levels, each of which includes those before.
const (
	Portable Level = iota // Go
	AVX2                  // with F16C and FMA3
	AVX512                // F, BW, DQ, VL and VNNI
	AMX                   // AVX512, and tiles of bytes
)

func (l Level) String() string {
	names := [...]string{"portable", "AVX2", "AVX-512", "AVX-512 and AMX"}
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return names[l]
}

// level is the one in use. It changes in tests only, between tasks.
var level = Highest()

// ActiveLevel is the level that products run on.
func ActiveLevel() Level { return level }

// SetLevel makes a test run on a level that the processor has, until restore is called. No task may be running.
func SetLevel(l Level) (restore func()) {
	if l < Portable || l > Highest() {
		panic(fmt.Sprintf("cpu: this processor has no level %v", l))
	}
	before := level
	level = l
	return func() { level = before }
}

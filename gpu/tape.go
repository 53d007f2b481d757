package gpu

import (
	"slices"

	"specula/gpu/driver"
)

// tape is the work of a pass, written down while the transformer calls operations and queued on the device all at once. What changes
// from pass to pass, the ids of tokens and the positions of rows, is data that kernels read from device memory: so passes of as
// many rows are the same tape but for its words, and a graph captured from one replays them all.
type tape struct {
	steps     []step
	words     []int32    // copied to Backend.input before the first step
	positions []position // of the pass being written: those that have a word
}

// step is a launch, or a copy inside the device.
type step struct {
	kernel *kernel // nil: values are where to, where from, and bytes
	shape  driver.Shape
	values [mostArguments]driver.Argument
}

const mostArguments = 21

// position is where the row of a pass stands in its sequence.
type position struct{ row, position, word int }

func (t *tape) reset() { t.steps, t.words, t.positions = t.steps[:0], t.words[:0], t.positions[:0] }

// word appends a word and returns its number.
func (t *tape) word(values ...int32) int {
	t.words = append(t.words, values...)
	return len(t.words) - len(values)
}

// positionWord is the number of the word that holds the position of a row.
func (t *tape) positionWord(row, at int) int {
	for _, p := range t.positions {
		if p.row == row && p.position == at {
			return p.word
		}
	}
	w := t.word(int32(at))
	t.positions = append(t.positions, position{row, at, w})
	return w
}

// hash depends on the steps alone.
func (t *tape) hash() uint64 {
	h := uint64(len(t.steps))
	mix := func(v uint64) {
		const prime = 0x9E3779B97F4A7C15
		h = (h ^ v) * prime
		h ^= h >> 29
	}
	for i := range t.steps {
		s := &t.steps[i]
		n := 3
		if s.kernel != nil {
			mix(uint64(s.kernel.function))
			for d := range 3 {
				mix(uint64(s.shape.Grid[d])<<32 | uint64(s.shape.Block[d]))
			}
			n = s.kernel.arguments
		}
		for _, v := range s.values[:n] {
			mix(uint64(v))
		}
	}
	return h
}

func (t *tape) same(steps []step) bool { return slices.Equal(t.steps, steps) }

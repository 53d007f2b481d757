package gpu

import (
	"slices"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// tape is the work of one pass, or of all passes of a draft. The methods of Backend append operations
// to it. flush joins neighbouring operations and turns each into a step. The device's thread queues all
// steps at once.
//
// What changes from pass to pass, as token ids and positions, is not in the steps. Kernels read it as
// words from device memory. So passes with the same number of rows have the same steps, and a graph
// captured from one replays them all. Attention over longer text changes the steps, at each power of
// two of splits (see Attend).
type tape struct {
	operations []operation
	steps      []step         // what the operations become; filled by Backend.flush
	words      []int32        // ids, positions, settings and edits; on the device before the first step
	positions  []position     // positions of the current pass that already have a word
	numbers    []stateNumbers // numbers of states in the current pass that already have words
	scores     driver.Pointer // of the pass that ends with this tape; 0: none does
}

// step is a launch whose kernel has been found.
type step struct {
	kernel *kernel // nil: a copy; values are to, from and bytes
	shape  driver.Shape
	values [mostArguments]driver.Argument
}

// position says which word holds the position of a row in its sequence.
type position struct{ row, position, word int }

// stateNumbers says which words hold the numbers that layers with a state read (see convolved).
type stateNumbers struct {
	row     int // first row of the sequence
	numbers [cuda.PassNumbers]int32
	word    int
}

func (t *tape) reset() {
	t.operations, t.steps, t.words, t.scores = t.operations[:0], t.steps[:0], t.words[:0], 0
	t.beginPass()
}

// beginPass forgets which words hold positions and numbers: a new pass appends words of its own.
func (t *tape) beginPass() { t.positions, t.numbers = t.positions[:0], t.numbers[:0] }

func (t *tape) append(operations ...operation) { t.operations = append(t.operations, operations...) }

// word appends words and returns the index of the first.
func (t *tape) word(values ...int32) int {
	t.words = append(t.words, values...)
	return len(t.words) - len(values)
}

// positionWord returns the index of the word with the position of a row. It appends the word if there
// is none yet.
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

// numbersWord returns the index of the first word with these numbers of a sequence. It appends the words if
// there are none yet: mostly, all layers of a pass have the same numbers.
func (t *tape) numbersWord(row int, numbers [cuda.PassNumbers]int32) int {
	for _, n := range t.numbers {
		if n.row == row && n.numbers == numbers {
			return n.word
		}
	}
	w := t.word(numbers[:]...)
	t.numbers = append(t.numbers, stateNumbers{row, numbers, w})
	return w
}

// hash depends on the steps alone, not on the words.
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

// Package sim checks and runs PTX, the text that a driver turns into machine code, on the processor in pure Go. It exists so that
// every test, on a machine without a GPU and without a C compiler, runs the very text that is shipped for one.
//
// A module passes four steps. lex.go and parse.go read the text; compile.go checks every instruction (known in this form, allowed by
// the module's version and target, operands declared and of the right type) and turns it into a Go function over the 32 lanes
// of a warp; layout.go orders the basic blocks so that joins come after what they join; warp.go and block.go run them.
//
// Lanes of a warp that stand at the same instruction run it together; of several such groups the one with the lowest place in the
// layout goes first, so that groups meet again where control flow joins. A collective (shfl, vote, bar.warp, mma) waits until every
// lane of its mask is there, bar.sync until every live thread of the block is.
//
// What hardware leaves undefined is an error here, with the kernel, the block, the thread, the line and the instruction: an access
// outside an allocation or not aligned, shared memory that is read before it is written, or touched by two threads without a
// barrier between them, an asynchronous copy whose target is used before the wait, a shuffle that reads a lane which is not there,
// collectives and barriers that not all threads reach. Memory begins as 0xff, NaN in every format.
//
// Arithmetic is exact IEEE with the rounding that the instruction names, so results equal those of a GPU bit for bit. Two things
// are not so: mma adds in ascending order with one rounding a step, where tensor cores have an order of their own; and approximate
// instructions (.approx, .ftz) are refused, because no reference can state their bits.
package sim

import (
	"fmt"
	"maps"
	"slices"
)

// Module is a checked PTX text, ready to run.
type Module struct {
	version, target int // 74 for PTX 7.4, 80 for sm_80
	kernels         map[string]*Kernel
	variables       []*variable // in global and constant memory
}

// Kernel is an entry point of a module.
type Kernel struct {
	name       string
	module     *Module
	parameters []parameter
	arrays     []*variable // in shared and local memory
	registers  []register
	predicates int
	body       []instruction
	labels     map[label]int      // to indices of body
	tables     map[label][]string // labels of .branchtargets
	scopes     []int              // the enclosing scope of each, -1 for the outermost
	most       int                // threads a block, by .maxntid or .reqntid
	exact      bool               // .reqntid

	constants  []constant
	code       []step
	sharedSize int    // bytes of static shared memory with gaps
	owner      []byte // of each byte of it: 1 + index of the array, 0 for a gap
	localSize  int
}

// Load reads and checks a PTX text. An error begins with the line it is about.
func Load(text string) (*Module, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	m, err := parse(tokens)
	if err != nil {
		return nil, err
	}
	for _, name := range m.Kernels() {
		k := m.kernels[name]
		if err := k.compile(); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", name, err)
		}
	}
	return m, nil
}

// Kernels returns the names of a module's kernels, sorted.
func (m *Module) Kernels() []string { return slices.Sorted(maps.Keys(m.kernels)) }

// Kernel returns the kernel called name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("the module has no kernel %q; it has %q", name, m.Kernels())
}

// Name returns the name of the kernel.
func (k *Kernel) Name() string { return k.name }

// ParameterBytes returns the size of each parameter.
func (k *Kernel) ParameterBytes() []int {
	sizes := make([]int, len(k.parameters))
	for i, p := range k.parameters {
		sizes[i] = p.bytes
	}
	return sizes
}

// Package sim checks and runs PTX, the text that the driver turns into machine code, on the CPU in
// pure Go. So tests run the very text that is shipped, on a machine without a GPU and without a C
// compiler.
//
// [Load] makes a [Module] of a text; a [Machine] has memory and launches a [Kernel] of the module.
// A text passes four steps. lex.go and parse.go read it. compile.go checks every instruction: known
// in this form, allowed by the module's version and target, operands declared and of the right type.
// It turns the instruction into a Go function over the 32 lanes of a warp. layout.go orders the
// basic blocks: a block comes after those that lead to it. warp.go and block.go run them.
//
// Lanes of a warp at the same instruction run it together. Of several such groups, the one with
// the lowest place in the layout goes first, so that groups meet again where control flow joins. A
// collective (shfl, vote, bar.warp, mma) waits until every lane of its mask is there; bar.sync
// waits for every live thread of the block. A loop that waits for a write of another thread is not
// supported: it is reported as endless.
//
// Invariant: what hardware leaves undefined is an error here, with the kernel, block, thread, line
// and instruction. Such errors are: an access outside an allocation or not aligned; shared memory
// that is read before it is written, or that one thread writes and another touches without a barrier
// between; an asynchronous copy whose target is used before the wait; a shuffle that reads a missing
// lane; collectives and barriers that not all threads reach; a read-only load (ld.global.nc) of what
// the kernel writes. A prefetch outside an allocation, which hardware ignores, is an error, too. Two
// faults are not detected. For races in global memory, another order (Machine.Seed) reveals many. For
// reads of what was never written outside of shared memory, all bytes begin as 0xff, which is NaN in
// every format of floats, and registers of 32 bits begin as a NaN.
//
// Arithmetic is exact IEEE with the rounding that the instruction names, so results equal those of
// a GPU bit for bit. There are two exceptions. mma of floats adds in ascending order and rounds each
// step once, while tensor cores have an order of their own. In double precision, a NaN that results
// always has the same bits, while hardware returns the NaN of an operand. Approximate instructions
// (.approx, .ftz) are refused, because no reference can state their bits.
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
	labels     map[label]int      // → index in body
	tables     map[label][]string // labels of .branchtargets
	scopes     []int              // for each scope of braces the enclosing one; -1 for the outermost
	most       int                // threads per block, by .maxntid or .reqntid
	exact      bool               // by .reqntid: exactly that many

	constants  []constant
	code       []step
	sharedSize int    // static shared memory with gaps, in bytes
	owner      []byte // for each byte of static shared memory the number of its array, from 1 on; 0 for a gap
	localSize  int
	grain      int // log2 of the bytes of the smallest access to shared memory
}

// Load reads and checks a PTX text. An error names the line that it is about.
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

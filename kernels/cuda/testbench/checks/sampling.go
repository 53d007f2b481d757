package checks

import (
	"testing"

	"specula/kernels/cuda/testbench/sim"
)

// Kernels are the kernels of one module on some machine. Run is as in package simtest: it fails
// the test if the kernel cannot run; a slice among the arguments is device memory of exactly its
// size, and gets back what is there afterwards; nil is a null pointer.
type Kernels interface {
	Run(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any)
}

// Load loads a module.
type Load func(t testing.TB, module string) Kernels

// Check compares the kernels of a module with kernels/ref, bit for bit.
type Check struct {
	Name, Module string
	Run          func(t testing.TB, load Load)
}

// All lists the checks of verification and sampling.
var All = []Check{
	{"ArgmaxRows", "argmax", checkArgmaxRows},
	{"AcceptGreedy", "argmax", checkAcceptGreedy},
	{"SoftmaxRows", "softmax", checkSoftmaxRows},
	{"DrawRows", "softmax", checkDrawRows},
	{"Reject", "reject", checkReject},
	{"RejectWithoutDrafts", "reject", checkRejectWithoutDrafts},
	{"CutRows", "nucleus", checkCutRows},
}

// Package samplecheck holds the kernels of verification and sampling against kernels/ref, bit for bit, on any machine that runs them:
// the simulator, the emulating driver, a GPU. The rows are of the kinds on which something can go wrong.
package samplecheck

import (
	"testing"

	"specula/kernels/cuda/sim"
)

// Kernels are those of one module on some machine. Run is as simtest's: it fails the test if the kernel cannot be run, a slice among
// the arguments is device memory of exactly its size and gets back what is there afterwards, and nil is a null pointer.
type Kernels interface {
	Run(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any)
}

// Load loads a module.
type Load func(t testing.TB, module string) Kernels

// Check is one check, of the kernels of a module.
type Check struct {
	Name, Module string
	Run          func(t testing.TB, load Load)
}

// All lists them.
var All = []Check{
	{"ArgmaxRows", "argmax", checkArgmaxRows},
	{"AcceptGreedy", "argmax", checkAcceptGreedy},
	{"SoftmaxRows", "softmax", checkSoftmaxRows},
	{"DrawRows", "softmax", checkDrawRows},
	{"Reject", "reject", checkReject},
	{"RejectWithoutDrafts", "reject", checkRejectWithoutDrafts},
	{"TopK", "topk", checkTopK},
	{"TopKOfALargeVocabulary", "topk", checkTopKOfALargeVocabulary},
	{"TopKWithPenalties", "topk", checkTopKWithPenalties},
	{"FilterPairs", "nucleus", checkFilterPairs},
	{"CutRows", "nucleus", checkCutRows},
}

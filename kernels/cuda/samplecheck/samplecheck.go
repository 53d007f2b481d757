// Package samplecheck compares the kernels of verification and sampling with kernels/ref, bit for
// bit, on any machine that runs kernels: the simulator, the emulated driver, a GPU. [All] lists
// the checks. The rows of scores are of the kinds that are likely to show a bug.
package samplecheck

import (
	"testing"

	"specula/kernels/cuda/sim"
)

// Kernels are the kernels of one module on some machine. Run is as in package simtest: it fails
// the test if the kernel cannot run; a slice among the arguments is device memory of exactly its
// size, and gets back what is there afterwards; nil is a null pointer.
type Kernels interface {
	Run(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any)
}

// Load loads a module.
type Load func(t testing.TB, module string) Kernels

// Check is one check of the kernels of a module.
type Check struct {
	Name, Module string
	Run          func(t testing.TB, load Load)
}

// All lists the checks.
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

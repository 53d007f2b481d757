package checks

import (
	"testing"

	"specula/kernels/cuda/testbench/sim"
)

// Kernels are the kernels of one module on some machine. Run runs a kernel, as in package simtest,
// and fails the test if that is not possible. A slice among the arguments is copied to device memory
// of exactly its size, and back afterwards. nil becomes a null pointer.
type Kernels interface {
	Run(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any)
}

// Load loads a module.
type Load func(t testing.TB, module string) Kernels

// Check checks kernels of a module, most of them against kernels/ref, bit for bit.
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
	{"MatchDraws", "exact", checkMatchDraws},
	{"JudgeBlocks", "block", checkJudgeBlocks},
	{"CutRows", "nucleus", checkCutRows},
	{"EditRows", "edits", checkEditRows},
	{"GuideRows", "edits", checkGuideRows},
	{"MaskRows", "edits", checkMaskRows},
	{"RankRows", "ranking", checkRankRows},
}

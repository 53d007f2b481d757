// Package cpu holds the kernels of the CPU backend, one operation to a file, named as in kernels/ref, which defines them: op.go says what
// it does, op_generic.go does it in portable Go, and op_amd64.go and op_arm64.go pick the assembly of op_amd64.s and op_arm64.s that the
// processor has. The tag noasm leaves the assembly out. The folders asm and neon generate it.
//
// Two habits run through the package. Work that is worth splitting is a Task, a plain struct that computes a range of
// independent items; a Pool spreads the range over its goroutines. No item is computed from another's result,
// so neither the number of threads nor the place of a split can change a bit. And the order of every addition along the
// summed axis is fixed by kernels/ref, however many rows are computed in the call: verifying a draft of γ tokens
// gives the bits that γ+1 single steps would have given.
//
// Products and sums are rounded separately, float32(a*b) + c, because a compiler may otherwise fuse them on some processors. Only the
// products with float weights are fused, on every processor (fma.go).
package cpu

//go:generate go run -C asm . ..
//go:generate go run ./neon .

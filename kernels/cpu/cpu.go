// Package cpu holds the kernels of the CPU backend: portable Go, one operation to a file, named as in kernels/ref, which
// defines them.
//
// Two habits run through the package. Work that is worth splitting is a Task, a plain struct that computes a range of
// independent items; a Pool spreads the range over its goroutines. No item is computed from another's result,
// so neither the number of threads nor the place of a split can change a bit. And the order of every addition along the
// summed axis is fixed by kernels/ref, however many rows are computed in the call: verifying a draft of γ tokens
// gives the bits that γ+1 single steps would have given.
//
// Products and sums are rounded separately, float32(a*b) + c, because a compiler may otherwise fuse them on some processors.
package cpu

// Package cpu holds the kernels of the CPU backend. The names are those of kernels/ref, which
// defines what each operation computes. An operation with assembly has several files: op.go documents it,
// and op_generic.go computes it in portable Go. op_amd64.go and op_arm64.go call the assembly in
// op_amd64.s and op_arm64.s for the level of the processor (level.go). Operations on the numbers of a row
// share the files vector_*. The commands asm and neon
// generate the assembly; the command dispatch generates the code that chooses the product of a
// format. The build tag noasm leaves the assembly out.
//
// Read the package in this order. MatMulFloat and MatMulQuantized are the products, with Panels and
// Quantized as the repacked weights and activations. Attention works on a KV, the cache of one
// layer. Products and attention are Tasks: plain structs that compute a range of independent items.
// A Pool spreads this range over its threads.
//
// Two invariants. No item depends on another's result, so neither the number of threads nor the way
// items are divided changes a bit. And the order of the additions in a sum is fixed, however many
// rows a call computes: kernels/ref fixes it for the matrix products, the portable code for all
// other operations. So verifying a draft of γ tokens gives the same bits as γ+1 single steps.
//
// A product and a sum are rounded separately, float32(a*b) + c: without the conversion, a compiler
// may fuse the two operations on some processors. They are fused only in products that multiply weights as
// float32 (MatMulFloat, MatMulDequantized), and there on every processor (fma.go).
package cpu

//go:generate go run -C asm . ..
//go:generate go run ./neon .
//go:generate go run ./dispatch .

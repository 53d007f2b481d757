// Package ref defines what every kernel computes; tests compare kernels with it. It is naive Go without
// optimisations.
//
// There are two kinds of functions. Those that return or fill float64 define what an operation
// computes; a kernel must agree within a bound that its test states. Those in float32 define its
// bits: the order of every addition is part of the definition, and a kernel must agree in every bit
// on any processor. (Real tensor cores may add the products of one instruction in another order.) On
// the CPU these are the matrix products, with the decoding of weights and the rounding of activations
// (MatMulF32, MatMulQuantized, MatMulExperts, Dequantize, QuantizeRow), and the sum of experts (Mix). Products
// compute several rows at once, so their order decides whether verifying a draft gives the same logits as
// decoding it. On the GPU every operation is defined to the bit (the files gpu_*.go).
//
// One invariant of the second kind: a product and a sum are rounded separately, float32(a*b) + c,
// unless FMA is written. FMA is used in Dot and in many places of the GPU. A processor without
// fused multiply-add must emulate FMA; then all of them agree.
//
// Matrices are row-major. A weight matrix is (rows, cols), and a product sums over cols.
package ref

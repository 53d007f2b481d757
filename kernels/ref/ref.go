// Package ref is the specification of every kernel, and the oracle of every test: naive Go without a single trick.
//
// There are two kinds of functions here. Those that return or fill float64 say what an operation is; a kernel has to agree
// within a bound that its test states. Those in float32 say what its bits are: the order of every addition is part of the
// definition, and a kernel on any processor has to agree in every bit. On the CPU only the matrix products, which decide whether
// verifying a draft gives the same scores as decoding it, are defined to the bit; on the GPU every operation is.
//
// A product and a sum are rounded separately, float32(a*b) + c, but where FMA is written: in Dot, and in many places on the GPU.
// A processor without fused multiply-add has to do as FMA does, and then all agree.
//
// Matrices are row-major. A weight matrix is (rows, cols) with cols along the axis that is summed over.
package ref

// An epilogue is work on the result of a product that the product's blocks do, so that it needs no launch of
// its own. The bits are those of separate kernels. A block computes all that it needs: no block waits for
// another, so blocks need not run at the same time.
#pragma once
#include "norm.h"

// swiglu_epilogue writes silu(gate)·up of two results as the operand of the next product. sum_epilogue adds the
// result to the residual stream, and adds the squares of each tile of the sum for the norm that follows.
enum : int { no_epilogue, swiglu_epilogue, sum_epilogue };

struct Epilogue {
    int kind;
    unsigned char *to;  // the operand that swiglu_epilogue writes
    int slabs;          // of the operand
};

// OperandOf is the operand for a form of activations. Half precision has none, because a row is scaled as
// a whole, by its largest number.
template <class Activations> struct OperandOf;
template <> struct OperandOf<FloatActivations<false>> : Bfloat16Operand {};
template <> struct OperandOf<IntegerActivations> : IntegerOperand {};
template <> struct OperandOf<FloatActivations<true>> {
    template <class Value> INLINE_MEMBER void write_part(unsigned char *, int, int, int, int, int, const Value &) {}
};

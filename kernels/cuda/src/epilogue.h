// What the last blocks of a product do with its result, so that this needs no launch of its own. Blocks
// count their arrivals; the one that comes last does what a separate kernel would do, with the same bits.
// It never waits for another block, so no two blocks must run at the same time.
#pragma once
#include "operand.h"

enum : int { no_epilogue, swiglu_epilogue, norm_epilogue };

struct Epilogue {
    int kind;
    // swiglu_epilogue: one for each 32 columns; norm_epilogue: one. They are 0 before and after a launch.
    unsigned *arrived;
    unsigned char *to;  // the operand that is written
    int slabs;          // of the operand
    float *stream;      // (m, n), to which the result is added; this and the rest: norm_epilogue
    const float *weights;
    float eps;
    int threads;  // whose order of the sum it has, see norm.cu
};

// last_to_arrive reports to all threads of a block whether the block is the last of some to come. Then
// it sees everything that the others wrote before they came. before is shared memory.
INLINE bool last_to_arrive(unsigned *arrived, int blocks, float *before) {
    __syncthreads();  // all of the block has written
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned others = atomicInc(arrived, (unsigned)blocks - 1);  // the last makes it 0 again
        __threadfence();
        *before = bits_float(others);
    }
    __syncthreads();
    return float_bits(*before) + 1 == (unsigned)blocks;
}

// OperandOf is the operand in the form of activations. Half precision has none: its rows are scaled as a
// whole.
template <class Activations> struct OperandOf;
template <> struct OperandOf<FloatActivations<false>> : Bfloat16Operand {};
template <> struct OperandOf<IntegerActivations> : IntegerOperand {};
template <> struct OperandOf<FloatActivations<true>> {
    template <class Value> INLINE_MEMBER void write_part(unsigned char *, int, int, int, int, int, const Value &) {}
};

// swiglu_after writes silu(gate)·up as an operand, after tile number `tile` of gate or up (m, n). The last
// of the blocks with the same 32 columns of both writes these.
template <class Operand> INLINE void swiglu_after(const Epilogue &e, const float *gate, const float *up, int m, int n, int tile, float *shared) {
    int tiles = tiles_of(n), first = tile / 2 * 2, own = first + 2 <= tiles ? 2 : 1;
    if (!last_to_arrive(e.arrived + tile / 2, 2 * own, shared)) return;
    int end = first + 2 >= tiles ? e.slabs * slab_columns : tile_rows * (first + 2);
    Operand().write_part(e.to, 0, m, tile_rows * first, end, e.slabs,
        [=](int row, int k) { return k < n ? swiglu_of(gate[(size_t)row * n + k], up[(size_t)row * n + k]) : 0.0f; });
}

// norm_after adds y (m, n) to the stream, and writes the norm of the sum as an operand: add_rms_norm_*. The
// last block of the launch does so for all rows. shared has room for one float and one for each warp.
template <class Operand> INLINE void norm_after(const Epilogue &e, const float *y, int m, int n, float *shared) {
    constexpr int ahead = 4;  // numbers that a thread loads before it uses them
    float *sums = shared + 1;
    if (!last_to_arrive(e.arrived, gridDim.x, shared)) return;
    for (int row = 0; row < m; row++) {
        float *x = e.stream + (size_t)row * n;
        const float *added = y + (size_t)row * n;
        for (int warp = warp_id(); warp < e.threads / warp_size; warp += (int)blockDim.x / warp_size) {
            float squares = 0;
            for (int from = warp * warp_size + lane_id(); from < n; from += ahead * e.threads) {
                float v[ahead];
                UNROLL for (int i = 0; i < ahead; i++) {
                    int k = from + i * e.threads;
                    v[i] = k < n ? x[k] + added[k] : 0.0f;
                }
                UNROLL for (int i = 0; i < ahead; i++) {
                    int k = from + i * e.threads;
                    if (k >= n) break;
                    x[k] = v[i];
                    squares = fma_rn(v[i], v[i], squares);
                }
            }
            squares = warp_sum(squares);
            if (lane_id() == 0) sums[warp] = squares;
        }
        __syncthreads();
        float total = sums[0];
        for (int w = 1; w < e.threads / warp_size; w++) total += sums[w];
        float factor = inverse_root(total, n, e.eps);
        Operand().write_part(e.to, row, 1, 0, e.slabs * slab_columns, e.slabs,
            [=](int, int k) { return k < n ? x[k] * factor * e.weights[k] : 0.0f; });
        __syncthreads();  // the sums are read, before those of the next row
    }
}

// An epilogue is work on the result of a product that the product's last blocks do, so that it needs no
// launch of its own. Each finished block raises a counter; the last one does what a separate kernel would
// do, with the same bits. No block waits for another, so blocks need not run at the same time.
#pragma once
#include "arrival.h"
#include "operand.h"

enum : int { no_epilogue, swiglu_epilogue, norm_epilogue };

struct Epilogue {
    int kind;
    // Counters of finished blocks, 0 before and after a launch: one for each 32 columns of a
    // swiglu_epilogue, one for a norm_epilogue.
    unsigned *arrived;
    unsigned char *to;  // the operand that is written
    int slabs;          // of the operand
    float *stream;      // (m, n), to which the result is added; this and the rest are for norm_epilogue
    const float *weights;
    float eps;
    int threads;  // the squares are summed as by rms_norm with this number of threads, see norm.cu
};

// OperandOf is the operand for a form of activations. Half precision has none, because a row is scaled as
// a whole, by its largest number.
template <class Activations> struct OperandOf;
template <> struct OperandOf<FloatActivations<false>> : Bfloat16Operand {};
template <> struct OperandOf<IntegerActivations> : IntegerOperand {};
template <> struct OperandOf<FloatActivations<true>> {
    template <class Value> INLINE_MEMBER void write_part(unsigned char *, int, int, int, int, int, const Value &) {}
};

// swiglu_after writes silu(gate)·up as an operand. A block calls it after tile number `tile` of gate or up
// (m, n). Of the blocks that compute the same 32 columns of gate and up, the last writes these columns.
template <class Operand> INLINE void swiglu_after(const Epilogue &e, const float *gate, const float *up, int m, int n, int tile, float *shared) {
    int tiles = tiles_of(n), first = tile / 2 * 2, own = first + 2 <= tiles ? 2 : 1;
    if (!last_to_arrive(e.arrived + tile / 2, 2 * own, shared)) return;
    int end = first + 2 >= tiles ? e.slabs * slab_columns : tile_rows * (first + 2);
    Operand().write_part(e.to, 0, m, tile_rows * first, end, e.slabs,
        [=](int row, int k) { return k < n ? swiglu_of(gate[(size_t)row * n + k], up[(size_t)row * n + k]) : 0.0f; });
}

// norm_after adds y (m, n) to the stream and writes the norm of the sum as an operand, as add_rms_norm_*
// does. The last block of the launch does all rows. shared holds a float, and one more for each warp.
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
        __syncthreads();  // all have read the sums, before the next row overwrites them
    }
}

// An epilogue is work on the result of a product that the product's blocks do, so that it needs no launch of
// its own. The bits are those of a separate kernel. For a SwiGLU, each block computes the parts of gate and up
// that it combines. For a norm, each finished block raises a counter, and the last one does the work. No block
// waits for another, so blocks need not run at the same time.
#pragma once
#include "arrival.h"
#include "operand.h"

enum : int { no_epilogue, swiglu_epilogue, norm_epilogue };

struct Epilogue {
    int kind;
    unsigned *arrived;  // a counter of finished blocks for norm_epilogue, 0 before and after a launch
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

// prefetch_norm begins to load what norm_after reads besides the result, in the columns of a tile.
INLINE void prefetch_norm(const Epilogue &e, int m, int n, int tile) {
    const int i = threadIdx.x;
    if (i <= m) prefetch_l2((i < m ? e.stream + (size_t)i * n : e.weights) + tile * tile_rows);
}

// add_row adds a row of y to one of the stream x, and also writes the sum to `added`, shared memory. n is a
// multiple of 4.
INLINE void add_row(float *added, float *x, const float *y, int n) {
    constexpr int ahead = 4;  // loads of a thread before it uses the first
    for (int from = 4 * threadIdx.x; from < n; from += 4 * ahead * blockDim.x) {
        float4 a[ahead], b[ahead];
        UNROLL for (int i = 0; i < ahead; i++) {
            int k = from + 4 * i * blockDim.x;
            if (k >= n) break;
            a[i] = *(const float4 *)(x + k);
            b[i] = *(const float4 *)(y + k);
        }
        UNROLL for (int i = 0; i < ahead; i++) {
            int k = from + 4 * i * blockDim.x;
            if (k >= n) break;
            const float4 sum = {a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w};
            *(float4 *)(added + k) = sum;
            *(float4 *)(x + k) = sum;
        }
    }
}

// sum_squares sums the squares of a row as rms_norm with `threads` threads does: see norm.cu. sums is shared
// memory, a float for each warp of rms_norm.
INLINE float sum_squares(const float *row, int n, int threads, float *sums) {
    constexpr int many = 4, ahead = 8;  // warps of rms_norm that a warp does at once; sums that are loaded at once
    const int warps = blockDim.x / warp_size, all = threads / warp_size;
    for (int first = warp_id(); first < all; first += many * warps) {
        float squares[many] = {};
        for (int from = lane_id(); from < n; from += threads)
            UNROLL for (int j = 0; j < many; j++) {
                int warp = first + j * warps, k = from + warp * warp_size;
                if (warp < all && k < n) squares[j] = fma_rn(row[k], row[k], squares[j]);
            }
        UNROLL for (int j = 0; j < many; j++) squares[j] = warp_sum(squares[j]);
        UNROLL for (int j = 0; j < many; j++)
            if (lane_id() == 0 && first + j * warps < all) sums[first + j * warps] = squares[j];
    }
    __syncthreads();
    float total = sums[0];
    for (int from = 1; from < all; from += ahead) {
        float next[ahead];
        UNROLL for (int w = 0; w < ahead; w++) next[w] = from + w < all ? sums[from + w] : 0.0f;
        UNROLL for (int w = 0; w < ahead; w++) total = from + w < all ? total + next[w] : total;
    }
    return total;
}

// norm_after adds y (m, n) to the stream and writes the norm of the sum as an operand, as add_rms_norm_*
// does. n is a multiple of 4. The last block of the launch does all rows, and one block waits long for
// memory: so it asks for everything at once, and reads nothing twice. shared has room for 32 sums, a row, and
// the weights (ProductThen in layout.go).
template <class Operand> INLINE void norm_after(const Epilogue &e, const float *y, int m, int n, float *shared) {
    float *sums = shared, *added = sums + warp_size, *weights = added + n;
    if (!last_to_arrive(e.arrived, gridDim.x, shared)) return;
    for (int k = 4 * threadIdx.x; k < n; k += 4 * blockDim.x) copy_async(weights + k, e.weights + k);
    copy_async_commit();
    for (int row = 0; row < m; row++) {
        add_row(added, e.stream + (size_t)row * n, y + (size_t)row * n, n);
        copy_async_wait(0);
        __syncthreads();
        float factor = inverse_root(sum_squares(added, n, e.threads, sums), n, e.eps);
        Operand().write_part(e.to, row, 1, 0, e.slabs * slab_columns, e.slabs,
            [=](int, int k) { return k < n ? added[k] * factor * weights[k] : 0.0f; });
        __syncthreads();  // all have read the sums, before the next row overwrites them
    }
}

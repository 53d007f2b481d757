// Matrix products y (m, n) = x (m, k) · wᵀ, whose bits do not depend on m.
//
// Tensor cores multiply tiles: 16 rows of w with 8 rows of x, along 16 or 32 columns. Every column of
// such a product is independent, so a row of x gives the same bits alone and among others. The order of
// the sum along k is fixed as follows:
//   - w and x are divided into slabs along k; the slabs form contiguous ranges, whose number the caller
//     chooses by n and k alone;
//   - a range is summed from zero, slab by slab in ascending order;
//   - the sums of the ranges are added in ascending order.
// There are two kernels. multiply_rows (matmul_rows.h), for up to 32 rows, is limited by memory. A warp reads
// one range of one tile of 16 rows of w once, directly to registers. The warps of a block add their sums in
// shared memory. multiply_tile (matmul_tile.h), for many rows, is limited by arithmetic. A block holds
// 128 × 128 or 128 × 64 results, and goes through all ranges in order.
// Integer formats have a third one for a single row (alone.h). Another is for mixtures of experts
// (chosen.h).
//
// Weights are stored in the order in which lanes read them (see the formats). So a lane loads 16
// bytes, a warp 512 contiguous bytes, and a range of a tile is contiguous.
#pragma once
#include "matmul_rows.h"
#include "matmul_tile.h"

// MATMUL exports the products of a format. Those for up to 8, 16 and 32 rows have a block per tile, or with a
// swiglu_epilogue, for up to 16 rows, per two tiles of gate. They have the parameters of an epilogue in
// addition. With 512 threads at most, a thread has 128 registers, so two blocks of 256 are resident. The one
// for any number of rows has ⌈m/(8·block_groups)⌉ × ⌈tiles/8⌉ blocks of 256 threads, where each Output begins
// with a new block.
#define MATMUL_OUTPUT(i) float *y##i, int n##i, const unsigned char *weights##i, int ranges##i
#define MATMUL_PARAMETERS MATMUL_OUTPUT(0), MATMUL_OUTPUT(1), MATMUL_OUTPUT(2), const unsigned char *x, int m, int slabs
#define MATMUL_AFTER int kind, unsigned char *to, int to_slabs, float *stream, float *squares, const float *norm, int columns, float eps
#define MATMUL_OUTPUTS {{y0, n0, weights0, ranges0}, {y1, n1, weights1, ranges1}, {y2, n2, weights2, ranges2}}
#define MATMUL_PRODUCT {MATMUL_OUTPUTS, x, m, slabs, {}, {}}
#define MATMUL_ROWS(name, most_threads, blocks, call)                                                                       \
    extern "C" __global__ void __launch_bounds__(most_threads, blocks) name(MATMUL_PARAMETERS, MATMUL_AFTER) {              \
        call({MATMUL_OUTPUTS, x, m, slabs, {kind, to, to_slabs}, {stream, squares, norm, columns, eps}});                   \
    }                                                                                                                       \
    EXPORT(name)
#define MATMUL_TILE(name, blocks, call)                                                                                     \
    extern "C" __global__ void __launch_bounds__(256, blocks) name(MATMUL_PARAMETERS) { call(MATMUL_PRODUCT); }             \
    EXPORT(name)
#define MATMUL(name, Format)                                                                                                \
    MATMUL_ROWS(name##_rows8, 512, 1, (multiply_rows<Format, 1>))                                                           \
    MATMUL_ROWS(name##_rows16, 512, 1, (multiply_rows<Format, 2>))                                                          \
    MATMUL_ROWS(name##_rows32, 32 * Format::most_ranges, 1, (multiply_rows<Format, 4>))                                     \
    MATMUL_TILE(name##_tile, Format::resident_tiles, (multiply_tile<Format>))

// Matrix products y (m, n) = x (m, k) · wᵀ, whose bits do not depend on m.
//
// Tensor cores multiply tiles: 16 rows of w with 8 rows of x, along 16 or 32 columns. Every column of such a product is computed by
// itself, so a row of x gives the same bits alone, among 8, or among 8 zeros. What is left to fix is the order along k:
//   - w and x are cut into slabs along k, and slabs are cut into as many contiguous ranges as the caller says, by n and k alone;
//   - a range is summed from zero, slab by slab in ascending order;
//   - the sums of the ranges are added in ascending order, beginning with the first.
// Two kernels do that. multiply_rows, for up to 32 rows, is bound by memory: a warp streams one range of one tile of 16 rows of w
// once, straight to registers, and the warps of a block add their sums in shared memory. multiply_tile, for many rows, is bound
// by arithmetic: a block holds 128 × 128 results, and goes through all ranges one after the other.
//
// Weights lie in memory in the order in which lanes take them (see the formats), so that a lane's load is 16 bytes, a warp's is
// 512 bytes in a row, and a range of a tile is one contiguous piece.
#pragma once
#include "activations.h"

constexpr int tile_rows = 16;    // of w

// Matrices that share x are joined: their tiles lie one behind the other, and each has a result of its own. n is 0 where there is none.
struct Output {
    float *y;  // (m, n)
    int n;
};
struct Product {
    Output outputs[3];
    const unsigned char *weights, *x;
    int m;
    int slabs;   // of w, along k
    int ranges;  // at most Format::most_ranges, at most slabs
};

INLINE int tiles_of(int n) { return (n + tile_rows - 1) / tile_rows; }
INLINE int range_begin(const Product &p, int range) { return p.slabs * range / p.ranges; }

// output_of finds the matrix of a tile, and makes tile count from its beginning.
INLINE Output output_of(const Product &p, int &tile) {
    Output output = p.outputs[0];
    for (int i = 1; i < 3 && tile >= tiles_of(output.n); i++) {
        tile -= tiles_of(output.n);
        output = p.outputs[i];
    }
    return output;
}

// Streamed weights are read once, by one warp; staged ones lie in shared memory.
struct Streamed {
    INLINE uint4 load(const void *p) { return load_once(p); }
};
struct Staged {
    INLINE uint4 load(const void *p) { return load16(p); }
};

// A Format has
//   Activations, slab_bytes of 16 rows, columns of a slab, parts of a slab, most_ranges; and what only concerns speed:
//   resident, the blocks of multiply_rows that a multiprocessor shall hold at once; stages and tile_unroll of multiply_tile;
//   Part and Common: what a lane holds of a part of a slab as stored, and of what its parts have in common; load_part, load_common;
//   Fragments: a part ready for tensor cores; unpack makes them;
//   X: what a lane holds of a part of a group of activations; load_x, and load_factors for what does not belong to the lane's own row;
//   multiply(sum, fragments, x): adds the product of a part. sum[i] is row g + 8·(i/2) of w and row 2t + i%2 of x, g = lane/4, t = lane%4.
template <class Format> constexpr int activation_bytes() { return Format::columns / slab_columns * Format::Activations::slab_bytes; }
template <class Format> INLINE size_t group_bytes(const Product &p) {
    return Format::Activations::header_bytes + (size_t)p.slabs * activation_bytes<Format>();
}

// finish turns a complete sum into a result: activations in half precision were scaled by a power of two.
template <class Format> INLINE float finish(const Product &p, float sum, int row) {
    if (Format::Activations::header_bytes == 0) return sum;
    const float *factors = (const float *)(p.x + row / group_rows * group_bytes<Format>(p));
    return sum * factors[row % group_rows];
}

// multiply_rows: block b computes tile b for up to 8·groups rows of x, warp r of it range r. Shared memory holds
// (ranges, 8·groups, 16) floats.
template <class Format, int groups> INLINE void multiply_rows(const Product &p) {
    DYNAMIC_SHARED(float, partial);
    const int lane = lane_id(), g = lane / 4, t = lane % 4, range = warp_id();
    constexpr int results = groups * group_rows * tile_rows;
    float sum[groups][4] = {};
    const int last = range_begin(p, range + 1);
    for (int slab = range_begin(p, range); slab < last; slab++) {
        const unsigned char *w = p.weights + ((size_t)blockIdx.x * p.slabs + slab) * Format::slab_bytes;
        typename Format::Part stored[Format::parts];
        typename Format::Common common;
        UNROLL for (int part = 0; part < Format::parts; part++) Format::template load_part<Streamed>(stored[part], w, part, lane);
        Format::template load_common<Streamed>(common, w, lane);
        const unsigned char *x = p.x + Format::Activations::header_bytes + (size_t)slab * activation_bytes<Format>();
        UNROLL for (int part = 0; part < Format::parts; part++) {
            typename Format::Fragments fragments;
            Format::unpack(fragments, stored[part], common, part);
            UNROLL for (int i = 0; i < groups; i++) {
                typename Format::X rows = {};
                if (groups > 1 || g < p.m) Format::load_x(rows, x + i * group_bytes<Format>(p), part, lane);
                Format::load_factors(rows, x + i * group_bytes<Format>(p), part, lane);
                Format::multiply(sum[i], fragments, rows);
            }
        }
    }
    UNROLL for (int i = 0; i < groups; i++)
        UNROLL for (int j = 0; j < 4; j++)
            partial[range * results + (i * group_rows + 2 * t + j % 2) * tile_rows + g + j / 2 * 8] = sum[i][j];
    __syncthreads();
    int tile = blockIdx.x;
    const Output output = output_of(p, tile);
    for (int i = threadIdx.x; i < results; i += blockDim.x) {
        float total = partial[i];
        for (int r = 1; r < p.ranges; r++) total += partial[r * results + i];
        int row = i / tile_rows, n = tile * tile_rows + i % tile_rows;
        if (row < p.m && n < output.n) output.y[(size_t)row * output.n + n] = finish<Format>(p, total, row);
    }
}

// multiply_tile: block (i, j) computes rows 128·i … of x with tiles 8·j … of w. Eight warps: each has 2 tiles of w and 8 groups of x.
// A stage of shared memory holds a slab of 8 tiles and of 16 groups; while one is multiplied, the next are copied.
constexpr int block_tiles = 8, block_groups = 16, warp_tiles = 2, warp_groups = 8;

template <class Format> constexpr int stage_bytes() { return block_tiles * Format::slab_bytes + block_groups * activation_bytes<Format>(); }

// copy_pieces begins to copy count pieces of bytes each, the first stride apart from the second, and so on; pieces behind the last
// one that there is are copies of it, and their results are not stored.
template <int bytes, int count> INLINE void copy_pieces(unsigned char *to, const unsigned char *from, size_t stride, int last) {
    for (int i = threadIdx.x; i < bytes / 16 * count; i += 256) {
        int piece = i / (bytes / 16), offset = i % (bytes / 16) * 16;
        copy_async(to + 16 * i, from + (piece < last ? piece : last) * stride + offset);
    }
}

// copy_slab begins to copy a slab of the block's tiles and groups to a stage.
template <class Format> INLINE void copy_slab(const Product &p, unsigned char *stage, int slab, int tiles) {
    const int tile = blockIdx.y * block_tiles, group = blockIdx.x * block_groups;
    const size_t tile_bytes = (size_t)p.slabs * Format::slab_bytes;
    copy_pieces<Format::slab_bytes, block_tiles>(stage, p.weights + tile * tile_bytes + (size_t)slab * Format::slab_bytes, tile_bytes,
        tiles - 1 - tile);
    copy_pieces<activation_bytes<Format>(), block_groups>(stage + block_tiles * Format::slab_bytes,
        p.x + group * group_bytes<Format>(p) + Format::Activations::header_bytes + (size_t)slab * activation_bytes<Format>(),
        group_bytes<Format>(p), (p.m - 1) / group_rows - group);
}

// multiply_stage adds the products of a stage to a warp's sums.
template <class Format>
INLINE void multiply_stage(float (&sum)[warp_tiles][warp_groups][4], const unsigned char *w, const unsigned char *x, int lane) {
    typename Format::Common common[warp_tiles];
    UNROLL for (int i = 0; i < warp_tiles; i++) Format::template load_common<Staged>(common[i], w + i * Format::slab_bytes, lane);
    UNROLL_BY(Format::tile_unroll) for (int part = 0; part < Format::parts; part++) {
        typename Format::Fragments fragments[warp_tiles];
        UNROLL for (int i = 0; i < warp_tiles; i++) {
            typename Format::Part stored;
            Format::template load_part<Staged>(stored, w + i * Format::slab_bytes, part, lane);
            Format::unpack(fragments[i], stored, common[i], part);
        }
        UNROLL for (int j = 0; j < warp_groups; j++) {
            typename Format::X rows;
            Format::load_x(rows, x + j * activation_bytes<Format>(), part, lane);
            Format::load_factors(rows, x + j * activation_bytes<Format>(), part, lane);
            UNROLL for (int i = 0; i < warp_tiles; i++) Format::multiply(sum[i][j], fragments[i], rows);
        }
    }
}

template <class Format> INLINE void multiply_tile(const Product &p) {
    DYNAMIC_SHARED(unsigned char, shared);
    constexpr int stages = Format::stages;
    const int lane = lane_id(), g = lane / 4, t = lane % 4;
    const int first_tile = warp_id() % 4 * warp_tiles, first_group = warp_id() / 4 * warp_groups;
    const int tiles = tiles_of(p.outputs[0].n) + tiles_of(p.outputs[1].n) + tiles_of(p.outputs[2].n);
    float sum[warp_tiles][warp_groups][4] = {}, total[warp_tiles][warp_groups][4];
    for (int slab = 0; slab < stages - 1; slab++) {
        if (slab < p.slabs) copy_slab<Format>(p, shared + slab * stage_bytes<Format>(), slab, tiles);
        copy_async_commit();
    }
    for (int slab = 0, range = 0; slab < p.slabs; slab++) {
        copy_async_wait(stages - 2);
        __syncthreads();
        int ahead = slab + stages - 1;
        if (ahead < p.slabs) copy_slab<Format>(p, shared + ahead % stages * stage_bytes<Format>(), ahead, tiles);
        copy_async_commit();
        const unsigned char *stage = shared + slab % stages * stage_bytes<Format>();
        multiply_stage<Format>(sum, stage + first_tile * Format::slab_bytes,
            stage + block_tiles * Format::slab_bytes + first_group * activation_bytes<Format>(), lane);
        if (slab + 1 < range_begin(p, range + 1)) continue;
        UNROLL for (int i = 0; i < warp_tiles; i++)
            UNROLL for (int j = 0; j < warp_groups; j++)
                UNROLL for (int e = 0; e < 4; e++) {
                    total[i][j][e] = range == 0 ? sum[i][j][e] : total[i][j][e] + sum[i][j][e];
                    sum[i][j][e] = 0.0f;
                }
        range++;
    }
    UNROLL for (int i = 0; i < warp_tiles; i++) {
        int tile = blockIdx.y * block_tiles + first_tile + i;
        const Output output = output_of(p, tile);
        UNROLL for (int j = 0; j < warp_groups; j++)
            UNROLL for (int e = 0; e < 4; e++) {
                int row = (blockIdx.x * block_groups + first_group + j) * group_rows + 2 * t + e % 2;
                int n = tile * tile_rows + g + e / 2 * 8;
                if (row < p.m && n < output.n) output.y[(size_t)row * output.n + n] = finish<Format>(p, total[i][j][e], row);
            }
    }
}

// MATMUL exports the products of a format: for up to 8, 16 and 32 rows, one block of 32·ranges threads a tile; and for any number of
// rows, blocks of 256 threads, ⌈m/128⌉ × ⌈tiles/8⌉ of them.
#define MATMUL_PARAMETERS                                                                                                   \
    float *y0, int n0, float *y1, int n1, float *y2, int n2, const unsigned char *weights, const unsigned char *x, int m, int slabs, \
        int ranges
#define MATMUL_PRODUCT {{{y0, n0}, {y1, n1}, {y2, n2}}, weights, x, m, slabs, ranges}
#define MATMUL_KERNEL(name, threads, blocks, call)                                                                          \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(MATMUL_PARAMETERS) { call(MATMUL_PRODUCT); }         \
    EXPORT(name)
#define MATMUL(name, Format)                                                                                                \
    MATMUL_KERNEL(name##_rows8, 32 * Format::most_ranges, Format::resident, (multiply_rows<Format, 1>))                     \
    MATMUL_KERNEL(name##_rows16, 32 * Format::most_ranges, 16 / Format::most_ranges, (multiply_rows<Format, 2>))                                   \
    MATMUL_KERNEL(name##_rows32, 32 * Format::most_ranges, 1, (multiply_rows<Format, 4>))                                   \
    MATMUL_KERNEL(name##_tile, 256, 1, (multiply_tile<Format>))

// RMSNorm (Zhang and Sennrich, 2019): x·w/√(mean(x²)+eps).
//
// The order in which squares are added is part of the definition. In a row, the squares of each 16
// neighbouring numbers are added by butterflies; they are a tile's, since a product computes a row in tiles
// of 16. Then lane l of a warp adds the sums of the tiles l, l+32, … in ascending order, and butterflies add
// the lanes. So it does not matter who adds a tile: a kernel for norms, or the product that made the row.
// A group of at most 256 numbers, such as a head of q or k, has one warp and no tiles: lane l adds the
// squares of the numbers l, l+32, …, fused, and butterflies add the lanes.
#pragma once
#include "operand.h"

// tile_squares adds the squares of the numbers of 16 neighbouring lanes. Each of these lanes gets the sum.
INLINE float tile_squares(float v) {
    float sum = v * v;
    for (int o = tile_rows / 2; o > 0; o /= 2) sum += __shfl_xor_sync(full_warp, sum, o);
    return sum;
}

// add_tiles adds to `sum` what this lane adds of the sums of tiles.
INLINE void add_tiles(float &sum, const float *squares, int tiles) {
    constexpr int ahead = 8;  // loads of a lane before it uses the first
    for (int from = lane_id(); from < tiles; from += ahead * warp_size) {
        float next[ahead];
        UNROLL for (int i = 0; i < ahead; i++) next[i] = from + i * warp_size < tiles ? squares[from + i * warp_size] : 0.0f;
        UNROLL for (int i = 0; i < ahead; i++) sum += next[i];
    }
}

// inverse_root is the factor of RMSNorm for a sum of n squares.
INLINE float inverse_root(float squares, int n, float eps) { return divide_rn(1.0f, sqrt_rn(divide_rn(squares, (float)n) + eps)); }

// A Stream is the residual stream beside a product. A product with a sum_epilogue adds its result to `rows`
// and writes `squares`, the sums of the tiles. A product with one row whose kernel has norm in its name reads the
// norm of that row.
struct Stream {
    float *rows;         // (m, columns)
    float *squares;      // (m, tiles of a row)
    const float *norm;   // weights of the norm
    int columns;         // a multiple of 4
    float eps;
};

// write_four writes columns 4·four … 4·four+3 of a row as an operand in the layout of Activations. Whole warps
// call it with ascending four, as for quantise_four.
template <int rows> INLINE void write_four(IntegerLayout<rows>, unsigned char *to, const float (&values)[4], int row, int four, int slabs) {
    quantise_four<IntegerLayout<rows>>(to, values, row, four, slabs);
}
template <int rows> INLINE void write_four(FloatActivations<false, rows>, unsigned char *to, const float (&values)[4], int row, int four, int slabs) {
    if (four >= slabs * (slab_columns / 4)) return;
    UNROLL for (int pair = 0; pair < 2; pair++)
        round_pair<false>(to + FloatActivations<false, rows>::pair_offset(row, 2 * four + pair, slabs), values[2 * pair], values[2 * pair + 1]);
}

// factor_of is the factor of a norm, for a row whose tiles have these squares.
INLINE float factor_of(const float *squares, int columns, float eps) {
    float sum = 0;
    add_tiles(sum, squares, tiles_of(columns));
    return inverse_root(warp_sum(sum), columns, eps);
}

// normalise writes the norm of one row of the stream to shared memory, as an operand in the layout of
// Activations. All threads of a block call it, and may read the operand when it returns. Numbers are asked for
// before anything waits.
template <class Activations> INLINE void normalise(unsigned char *to, const Stream &s, int slabs) {
    constexpr int ahead = 2;  // loads of a thread before it uses the first
    const int fours = slabs * (slab_columns / 4);
    float4 x[ahead], w[ahead];
    auto load = [&](int first) {
        UNROLL for (int i = 0; i < ahead; i++) {
            const int k = 4 * (first + i * (int)blockDim.x);
            x[i] = w[i] = {};
            if (k < s.columns) {
                x[i] = *(const float4 *)(s.rows + k);
                w[i] = *(const float4 *)(s.norm + k);
            }
        }
    };
    load(threadIdx.x);
    const float factor = factor_of(s.squares, s.columns, s.eps);
    for (int first = threadIdx.x; first < fours; first += ahead * blockDim.x) {
        if (first >= (int)blockDim.x) load(first);
        UNROLL for (int i = 0; i < ahead; i++) {
            const int four = first + i * (int)blockDim.x;
            if (four >= fours) break;
            const float values[4] = {x[i].x * factor * w[i].x, x[i].y * factor * w[i].y, x[i].z * factor * w[i].z, x[i].w * factor * w[i].w};
            write_four(Activations{}, to, values, 0, four, slabs);
        }
    }
    __syncthreads();
}

// What the kernels for products share: their arguments, the places that lanes load from, and what a weight format
// has.
#pragma once
#include "epilogue.h"

// One launch can multiply several matrices with the same x. Each Output has weights, ranges and a result
// of its own, so its bits are those of a launch of its own. n is 0 for an unused Output.
struct Output {
    float *y;  // (m, n)
    int n;
    const unsigned char *weights;
    int ranges;  // at most Format::most_ranges, at most slabs
};
struct Product {
    Output outputs[3];
    const unsigned char *x;
    int m;
    int slabs;  // of w, along k
    Epilogue after;  // after and stream: of multiply_rows
    Stream stream;
};

// output_of returns the Output of block number `block`, if a block has `tiles` tiles. It changes block to
// its number within that Output.
template <int tiles> INLINE Output output_of(const Product &p, int &block) {
    Output output = p.outputs[0];
    for (int i = 1; i < 3; i++) {
        int blocks = (tiles_of(output.n) + tiles - 1) / tiles;
        if (block < blocks) break;
        block -= blocks;
        output = p.outputs[i];
    }
    return output;
}

// all_tiles is the number of tiles of all Outputs.
INLINE int all_tiles(const Product &p) { return tiles_of(p.outputs[0].n) + tiles_of(p.outputs[1].n) + tiles_of(p.outputs[2].n); }

// Places that lanes load from: weights in memory, which are read once (Streamed); activations,
// which the first-level cache keeps (Cached); and both in shared memory (Staged).
struct Streamed {
    const unsigned char *at;
    INLINE_MEMBER Streamed operator+(int bytes) const { return {at + bytes}; }
};
struct Cached {
    const unsigned char *at;
    INLINE_MEMBER Cached operator+(size_t bytes) const { return {at + bytes}; }
};
struct Staged {
    shared_address at;
    INLINE_MEMBER Staged operator+(int bytes) const { return {at + bytes}; }
};
INLINE uint4 load16(Streamed p) { return load_once(p.at); }
INLINE uint2 load8(Streamed p) { return *(const uint2 *)p.at; }
INLINE unsigned load4(Streamed p) { return *(const unsigned *)p.at; }
INLINE uint4 load16(Cached p) { return load_cached(p.at); }
INLINE uint2 load8(Cached p) { return *(const uint2 *)p.at; }
INLINE uint4 load16(Staged p) { return load_shared16(p.at); }
INLINE uint2 load8(Staged p) { return load_shared8(p.at); }
INLINE unsigned load4(Staged p) { return load_shared4(p.at); }

// A Format has
//   Activations; slab_bytes of 16 rows; columns of a slab; parts of a slab; most_ranges, the largest Output.ranges;
//   for speed only: resident and resident_tiles, the number of blocks of multiply_chosen and of
//   multiply_tile that a multiprocessor should hold at once;
//   for multiply_tile only: block_groups, the groups of a block; stages, the number of stages; pieces, the
//   stages that a slab takes; ahead, whether a warp loads a part while it multiplies the one before, which
//   needs two parts a stage; steps, the number of calls of multiply_step that make a multiply, if not 1;
//   Part and Common: what a lane has of a part of a slab, as stored, and of the data that all parts use;
//   load_part and load_common load them;
//   Fragments: a part ready for tensor cores; unpack makes them;
//   X: what a lane has of a part of a group of activations. load_x loads the numbers of row g. load_factors
//   loads the factors of rows 2t and 2t+1. load_factor is for multiply_chosen, where rows may be missing: it loads
//   those of row 2t + e alone, e = 0 or 1, from an address to which the caller has added the row's place in its
//   group (factor_bytes for each row of a block);
//   multiply(sum, fragments, x): adds the product of a part. sum[i] is row g + 8·(i/2) of w and row
//   2t + i%2 of x, with g = lane/4 and t = lane%4;
//   for alone.h only, in integer formats: unpack_quants, multiply_quants and scale_terms, the three steps of
//   own_terms; terms, how many terms a block adds to a row; integers, how many integers a lane keeps; Integers,
//   the struct of these integers.
template <class Format> constexpr int activation_bytes() { return Format::columns / slab_columns * Format::Activations::slab_bytes; }
template <class Format> INLINE size_t group_bytes(const Product &p) {
    return Format::Activations::header_bytes + (size_t)p.slabs * activation_bytes<Format>();
}

// finish turns a complete sum into a result: it undoes the scaling of activations in half precision by a
// power of two.
template <class Format> INLINE float finish(const Product &p, float sum, int row) {
    if (Format::Activations::header_bytes == 0) return sum;
    const float *factors = (const float *)(p.x + row / group_rows * group_bytes<Format>(p));
    return sum * factors[row % group_rows];
}

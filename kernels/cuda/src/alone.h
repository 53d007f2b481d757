// Products with one row of x: the decoding of one token. The bits are those of multiply_rows with more rows.
//
// Of the 8 columns that tensor cores multiply, one row of x would use one. Instead, the columns 2b and 2b+1
// have block b of the row, for four blocks. Block b of the weights is multiplied by all eight columns, and
// lanes with lane mod 4 = b keep the result. So each lane scales one block; otherwise all lanes would scale all.
// The terms of the sum then pass through shared memory; a lane adds those of row lane mod 16, block after block.
#pragma once
#include "chosen.h"

// One is the row of x of a product with one row: in memory in a group of 8 rows, or normalised by the block, in
// shared memory in a group of its own.
template <class Format, bool normed> struct One;
template <class Format> struct One<Format, false> {
    static constexpr bool normed = false;
    using Layout = IntegerActivations;
    const Cached first;
    INLINE_MEMBER One(const Product &p, unsigned char *) : first{p.x} {}
    INLINE_MEMBER static int shared_bytes(const Product &) { return 0; }
    INLINE_MEMBER Cached place(int slab) const { return first + (size_t)slab * layout_bytes<Layout, Format>(); }
};
template <class Format> struct One<Format, true> {
    static constexpr bool normed = true;
    using Layout = IntegerLayout<1>;
    const Staged first;
    INLINE_MEMBER One(const Product &p, unsigned char *shared) : first{to_shared(shared)} {
        normalise<Layout>(shared, p.stream, p.slabs * (Format::columns / slab_columns));
    }
    INLINE_MEMBER static int shared_bytes(const Product &p) { return p.slabs * layout_bytes<Layout, Format>(); }
    INLINE_MEMBER Staged place(int slab) const { return first + slab * layout_bytes<Layout, Format>(); }
};
template <class Format, int> using Alone = One<Format, false>;
template <class Format, int> using NormedAlone = One<Format, true>;

constexpr int most_warps = 16;  // of a block

// Terms are what four blocks add to the result of one row of w. With minima, each block has two terms.
template <int each> struct __align__(16) Terms { float of[4][each]; };

// own_terms computes the terms of block t of the four blocks number `four`, for rows g and g+8.
template <class Format, class Layout, class Place>
INLINE void own_terms(float (&terms)[2][Format::terms], const typename Format::Part (&stored)[Format::parts], const typename Format::Common &common, Place x, int four) {
    const int lane = lane_id(), g = lane / 4, t = lane % 4;
    x = x + four * Layout::slab_bytes;
    const uint2 quants = load8(x + Layout::four_offset(0, g / 2 * 8 + t)), factors = load8(x + Layout::factors_offset(0, t));
    const unsigned b[2] = {quants.x, quants.y};
    typename Format::Integers own = {};
    UNROLL for (int block = 0; block < 4; block++) {
        const int part = 2 * four + block / 2;
        unsigned a[2][4];
        Format::unpack_quants(a, stored[part], common, part);
        typename Format::Integers sums;
        Format::multiply_quants(sums, a[block % 2], b, common, 4 * four + block);
        UNROLL for (int i = 0; i < Format::integers; i++) own.of[i] = t == block ? sums.of[i] : own.of[i];
    }
    Format::scale_terms(terms, own, common, four, t, bits_float(factors.x), bits_float(factors.y));
}

// add_slabs for one row of x.
template <class Format, int groups, bool normed>
INLINE void add_slabs(float (&sum)[groups][4], const One<Format, normed> &x, const unsigned char *tile, int first, int last) {
    constexpr int fours = Format::columns / slab_columns;
    SHARED(Terms<Format::terms>, shared, [most_warps][2][tile_rows]);
    const int lane = lane_id(), g = lane / 4, t = lane % 4;
    float own = 0;  // of row lane%16
    for (int slab = first; slab < last; slab++) {
        const Streamed w = {tile + (size_t)slab * Format::slab_bytes};
        typename Format::Part stored[Format::parts];
        typename Format::Common common;
        UNROLL for (int part = 0; part < Format::parts; part++) Format::load_part(stored[part], w, part, lane);
        Format::load_common(common, w, lane);
        UNROLL for (int four = 0; four < fours; four++) {
            auto &terms = shared[warp_id()][(unsigned)(slab * fours + four) % 2];  // of two in turn, so that one __syncwarp is enough
            float of_block[2][Format::terms];
            own_terms<Format, typename One<Format, normed>::Layout>(of_block, stored, common, x.place(slab), four);
            UNROLL for (int upper = 0; upper < 2; upper++)
                UNROLL for (int i = 0; i < Format::terms; i++) terms[g + 8 * upper].of[t][i] = of_block[upper][i];
            __syncwarp();
            UNROLL for (int block = 0; block < 4; block++)
                UNROLL for (int i = 0; i < Format::terms; i++) own += terms[lane % tile_rows].of[block][i];
        }
    }
    __syncwarp();  // all have read the terms, before the next range overwrites them
    UNROLL for (int upper = 0; upper < 2; upper++) sum[0][2 * upper] = __shfl_sync(full_warp, own, g + 8 * upper);
}

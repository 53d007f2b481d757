// Formats in which a block of 32 columns has one scale, and maybe a minimum: weight = scale · quant +
// minimum.
#pragma once
#include "quants.h"

// Each block has a scale of its own, and maybe a minimum, in half precision. First come all scales: for
// g = 0 … 7, for each of 4 blocks, the scale of row g, then of row g+8. The minima follow in the same order.
template <bool with_minima> struct BlockScales {
    static constexpr bool has_minima = with_minima;
    static constexpr int bytes = with_minima ? 256 : 128;
    struct Common { uint4 scales, minima; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.scales = load16(w + lane / 4 * 16);
        if (with_minima) common.minima = load16(w + (128 + lane / 4 * 16));
    }
    INLINE void unpack(float (&scale)[2][2], float (&minimum)[2][2], const Common &common, int number) {
        UNROLL for (int block = 0; block < 2; block++) {
            two_halves(scale[block], word_of(common.scales, 2 * number + block));
            if (with_minima) two_halves(minimum[block], word_of(common.minima, 2 * number + block));
        }
    }
    INLINE void two_halves(float (&two)[2], unsigned pair) {
        two[0] = from_half((unsigned short)pair);
        two[1] = from_half((unsigned short)(pair >> 16));
    }
    INLINE void unpack_one(float (&scale)[2], float (&minimum)[2], const Common &common, int, int t) {
        two_halves(scale, word_of_lane(common.scales, t));
        if (with_minima) two_halves(minimum, word_of_lane(common.minima, t));
    }
    INLINE float scale_at(const unsigned char *w, int block, int row) { return half_at(w + place(block, row)); }
    INLINE float minimum_at(const unsigned char *w, int block, int row) { return half_at(w + 128 + place(block, row)); }
    INLINE int place(int block, int row) { return row % 8 * 16 + block * 4 + row / 8 * 2; }
};

// A super-block of each row has two numbers, d and dmin, and each of its blocks has two integer factors. The
// scale of a block is d times its first factor; its minimum is −dmin times its second factor.
//   factors: rows 0 … 15: the 8 first factors, one per block, then the 8 second ones, as bytes
//   d:       for g = 0 … 7: d and dmin of row g, then of row g+8, half precision
struct Factors {
    static constexpr bool has_minima = true;
    static constexpr int bytes = 256 + 64;
    struct Common { uint4 factors[2]; float d[2], least[2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.factors[0] = load16(w + lane / 4 * 16);
        common.factors[1] = load16(w + (128 + lane / 4 * 16));
        uint2 d = load8(w + (256 + lane / 4 * 8));
        common.d[0] = from_half((unsigned short)d.x);
        common.d[1] = from_half((unsigned short)d.y);
        common.least[0] = -from_half((unsigned short)(d.x >> 16));
        common.least[1] = -from_half((unsigned short)(d.y >> 16));
    }
    INLINE void unpack(float (&scale)[2][2], float (&minimum)[2][2], const Common &common, int number) {
        UNROLL for (int upper = 0; upper < 2; upper++) {
            UNROLL for (int block = 0; block < 2; block++) {
                int byte = (2 * number + block) % 4;
                unsigned scales = word_of(common.factors[upper], number / 2), minima = word_of(common.factors[upper], 2 + number / 2);
                scale[block][upper] = times_byte(common.d[upper], scales, byte);
                minimum[block][upper] = times_byte(common.least[upper], minima, byte);
            }
        }
    }
    INLINE void unpack_one(float (&scale)[2], float (&minimum)[2], const Common &common, int four, int t) {
        UNROLL for (int upper = 0; upper < 2; upper++) {
            scale[upper] = times_byte(common.d[upper], word_of(common.factors[upper], four), t);
            minimum[upper] = times_byte(common.least[upper], word_of(common.factors[upper], 2 + four), t);
        }
    }
    // times_byte is d · byte i of a word. It is exact, since d has 11 bits and the byte 6.
    INLINE float times_byte(float d, unsigned word, int i) { return fma_rn(d, byte_bits(word, i, 0x4b000000u), d * -8388608.0f); }
    INLINE float scale_at(const unsigned char *w, int block, int row) { return half_at(d_of(w, row)) * (float)w[row * 16 + block]; }
    INLINE float minimum_at(const unsigned char *w, int block, int row) { return -half_at(d_of(w, row) + 2) * (float)w[row * 16 + 8 + block]; }
    INLINE const unsigned char *d_of(const unsigned char *w, int row) { return w + 256 + row % 8 * 8 + row / 8 * 4; }
};

// Scaled is the format of a matrix: a slab has the quants, then the scales.
template <class Q, class S> struct Scaled : IntegerFormat {
    static constexpr int columns = Q::columns, slab_bytes = Q::bytes + S::bytes, parts = columns / 64, most_ranges = 2048 / columns;
    static constexpr int resident = most_ranges == 16 ? 1 : 2, resident_tiles = most_ranges == 16 && !S::has_minima ? 2 : 1, stages = most_ranges == 16 ? 3 : 2;
    using Part = typename Q::Part;
    struct Common { typename Q::Common quants; typename S::Common scales; };
    struct Fragments { unsigned quants[2][4]; float scale[2][2], minimum[2][2]; };  // scale[block][0: row g, 1: row g+8]

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        Q::load_common(common.quants, w, lane);
        S::load_common(common.scales, w + Q::bytes, lane);
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) { Q::load_part(part, w, number, lane); }
    INLINE void unpack(Fragments &f, const Part &part, const Common &common, int number) {
        Q::unpack(f.quants, part, common.quants, number);
        S::unpack(f.scale, f.minimum, common.scales, number);
    }
    static constexpr int terms = S::has_minima ? 2 : 1, integers = 2;
    struct Integers { int of[integers]; };  // of rows g and g+8
    INLINE void unpack_quants(unsigned (&quants)[2][4], const Part &part, const Common &common, int number) { Q::unpack(quants, part, common.quants, number); }
    INLINE void multiply_quants(Integers &sums, const unsigned (&quants)[4], const unsigned (&b)[2], const Common &, int) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        int d[4];
        mma_int8(d, quants, b, zero);
        UNROLL for (int upper = 0; upper < 2; upper++) sums.of[upper] = d[2 * upper];
    }
    INLINE void scale_terms(float (&to)[2][terms], const Integers &sums, const Common &common, int four, int t, float x_scale, float x_scaled_sum) {
        float scale[2], minimum[2];
        S::unpack_one(scale, minimum, common.scales, four, t);
        UNROLL for (int upper = 0; upper < 2; upper++) {
            to[upper][0] = scaled_float(sums.of[upper], Q::unit) * (scale[upper] * x_scale);
            if (S::has_minima) to[upper][terms - 1] = minimum[upper] * x_scaled_sum;
        }
    }
    INLINE void multiply(float (&sum)[4], const Fragments &f, const X &x) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        UNROLL for (int block = 0; block < 2; block++) {
            unsigned b[2];
            block_of(b, x, block);
            int d[4];
            mma_int8(d, f.quants[block], b, zero);
            UNROLL for (int e = 0; e < 4; e++) {
                sum[e] += scaled_float(d[e], Q::unit) * (f.scale[block][e / 2] * scale_of(x, block, e));
                if (S::has_minima) sum[e] += f.minimum[block][e / 2] * scaled_sum_of(x, block, e);
            }
        }
    }
};

template <class Q, class S> INLINE float element(Scaled<Q, S>, const Element &p, int row) {
    const unsigned char *w = p.slab + Q::bytes;
    float weight = S::scale_at(w, p.block, row % tile_rows) * (float)Q::at(p);
    return S::has_minima ? weight + S::minimum_at(w, p.block, row % tile_rows) : weight;
}

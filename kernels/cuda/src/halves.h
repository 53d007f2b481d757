// Formats of super-blocks in which each 16 columns have an integer factor.
#pragma once
#include "quants.h"

// Halves: a super-block of each row has a scale d, and each 16 columns a signed factor of it. A slab has
//   quants
//   scales: rows 0 … 15: the factors as 16 bytes, one per 16 columns, with 128 added
//   d:      for g = 0 … 7: of row g, of row g+8, half precision
// A signed quant lies in the top bits of a byte, so the byte is 2^up times the quant. The factor is divided
// by 2^up, which is exact.
template <class Q> struct Halves : IntegerFormat {
    static constexpr int columns = 256, slab_bytes = Q::bytes + 256 + 32, parts = 4, most_ranges = 8, resident = 2, resident_tiles = 1, stages = 2;
    using Part = typename Q::Part;
    struct Common { typename Q::Common quants; uint4 scales[2]; float d[2]; };
    struct Fragments { unsigned quants[2][4]; float d[2], scale[2][2][2]; };  // scale[block][its half][0: row g, 1: row g+8]

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        Q::load_common(common.quants, w, lane);
        common.scales[0] = load16(w + (Q::bytes + lane / 4 * 16));
        common.scales[1] = load16(w + (Q::bytes + 128 + lane / 4 * 16));
        unsigned d = load4(w + (Q::bytes + 256 + lane / 4 * 4));
        common.d[0] = from_half((unsigned short)d);
        common.d[1] = from_half((unsigned short)(d >> 16));
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) { Q::load_part(part, w, number, lane); }
    INLINE void unpack(Fragments &f, const Part &part, const Common &common, int number) {
        Q::unpack(f.quants, part, common.quants, number);
        f.d[0] = common.d[0];
        f.d[1] = common.d[1];
        UNROLL for (int upper = 0; upper < 2; upper++)
            UNROLL for (int i = 0; i < 4; i++) f.scale[i / 2][i % 2][upper] = factor_of(word_of(common.scales[upper], number), i);
    }
    static constexpr int terms = 1, integers = 4;
    struct Integers { int of[integers]; };  // of rows g and g+8, for the first half of a block, then for the second
    INLINE void unpack_quants(unsigned (&quants)[2][4], const Part &part, const Common &common, int number) { Q::unpack(quants, part, common.quants, number); }
    INLINE void multiply_quants(Integers &sums, const unsigned (&quants)[4], const unsigned (&b)[2], const Common &, int) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        UNROLL for (int half = 0; half < 2; half++) {
            const unsigned a[2] = {quants[2 * half], quants[2 * half + 1]};
            int d[4];
            mma_int8_half(d, a, b[half], zero);
            UNROLL for (int upper = 0; upper < 2; upper++) sums.of[2 * half + upper] = d[2 * upper];
        }
    }
    INLINE void scale_terms(float (&to)[2][terms], const Integers &sums, const Common &common, int four, int t, float x_scale, float) {
        UNROLL for (int upper = 0; upper < 2; upper++) {
            const unsigned scales = word_of_lane(common.scales[upper], 2 * four + t / 2);
            to[upper][0] = halves_float(sums.of[upper], sums.of[2 + upper], factor_of(scales, t % 2 * 2), factor_of(scales, t % 2 * 2 + 1)) *
                (common.d[upper] * x_scale);
        }
    }
    INLINE float factor_of(unsigned scales, int i) {
        constexpr unsigned base = (unsigned)(127 + 23 - Q::up) << 23;  // 2^(23−up)
        constexpr float subtract = (float)(1 << (23 - Q::up)) + 128.0f / (1 << Q::up);
        return byte_float(scales, i, base, subtract);
    }
    // halves_float adds the halves of a block. All products and their sum are integers below 2²⁴, so the result
    // is exact, fused or not.
    INLINE float halves_float(int first, int second, float first_factor, float second_factor) {
        return fma_rn(integer_float(second), second_factor, integer_float(first) * first_factor);
    }
    INLINE void multiply(float (&sum)[4], const Fragments &f, const X &x) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        UNROLL for (int block = 0; block < 2; block++) {
            unsigned b[2];
            block_of(b, x, block);
            const unsigned first[2] = {f.quants[block][0], f.quants[block][1]}, second[2] = {f.quants[block][2], f.quants[block][3]};
            int d[4], e[4];
            mma_int8_half(d, first, b[0], zero);
            mma_int8_half(e, second, b[1], zero);
            UNROLL for (int i = 0; i < 4; i++) {
                float product = halves_float(d[i], e[i], f.scale[block][0][i / 2], f.scale[block][1][i / 2]);
                sum[i] += product * (f.d[i / 2] * scale_of(x, block, i));
            }
        }
    }
};
template <class Q> INLINE float element(Halves<Q>, const Element &p, int row) {
    const unsigned char *w = p.slab + Q::bytes;
    int scale = (int)w[row % tile_rows * 16 + 2 * p.block + p.byte % 16 / 8] - 128;
    return half_at(w + 256 + row % 8 * 4 + row % tile_rows / 8 * 2) * (float)(Q::at(p) * scale);
}

// MinimaOfHalves: a super-block of each row has a scale d and a minimum dmin, and each 16 columns an unsigned
// factor of each. A slab has
//   quants
//   factors: rows 0 … 15: 16 bytes, one per 16 columns: factor of d in the low four bits, of dmin in the high
//   d:       for g = 0 … 7: d and dmin of row g, of row g+8, half precision
// The quants are multiplied by their factors before the tensor cores sum them; Q has at most two bits. To sum the
// factors of dmin times the activations, the tensor cores get these factors like quants, one for each column.
template <class Q> struct MinimaOfHalves : IntegerFormat {
    static constexpr int columns = 256, slab_bytes = Q::bytes + 256 + 64, parts = 4, most_ranges = 8, resident = 2, resident_tiles = 1, stages = 2;
    static_assert(Q::bits <= 2 && Q::up == 0, "quant · factor does not fit into a signed byte");
    using Part = typename Q::Part;
    struct Common { typename Q::Common quants; uint4 factors[2]; float d[2], least[2]; };
    struct Fragments { unsigned quants[2][4], minima[2][4]; float d[2], least[2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        Q::load_common(common.quants, w, lane);
        common.factors[0] = load16(w + (Q::bytes + lane / 4 * 16));
        common.factors[1] = load16(w + (Q::bytes + 128 + lane / 4 * 16));
        uint2 d = load8(w + (Q::bytes + 256 + lane / 4 * 8));
        common.d[0] = from_half((unsigned short)d.x);
        common.d[1] = from_half((unsigned short)d.y);
        common.least[0] = -from_half((unsigned short)(d.x >> 16));
        common.least[1] = -from_half((unsigned short)(d.y >> 16));
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) { Q::load_part(part, w, number, lane); }
    INLINE void unpack(Fragments &f, const Part &part, const Common &common, int number) {
        unpack_quants(f.quants, part, common, number);
        UNROLL for (int block = 0; block < 2; block++) multiply_factors(f.quants[block], f.minima[block], common, 2 * number + block);
        UNROLL for (int upper = 0; upper < 2; upper++) {
            f.d[upper] = common.d[upper];
            f.least[upper] = common.least[upper];
        }
    }
    INLINE void multiply_factors(unsigned (&quants)[4], unsigned (&minima)[4], const Common &common, int block) {
        UNROLL for (int i = 0; i < 4; i++) {
            const unsigned factor = word_of(common.factors[i % 2], block / 2) >> (block % 2 * 16 + i / 2 * 8);
            quants[i] *= factor & 15;
            minima[i] = (factor >> 4 & 15) * 0x01010101u;
        }
    }
    static constexpr int terms = 2, integers = 4;
    struct Integers { int of[integers]; };  // of rows g and g+8, of the quants, then of the minima
    INLINE void unpack_quants(unsigned (&quants)[2][4], const Part &part, const Common &common, int number) { Q::unpack(quants, part, common.quants, number); }
    INLINE void multiply_quants(Integers &sums, unsigned (&quants)[4], const unsigned (&b)[2], const Common &common, int block) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        unsigned minima[4];
        multiply_factors(quants, minima, common, block);
        int d[4], e[4];
        mma_int8(d, quants, b, zero);
        mma_int8(e, minima, b, zero);
        UNROLL for (int upper = 0; upper < 2; upper++) {
            sums.of[upper] = d[2 * upper];
            sums.of[2 + upper] = e[2 * upper];
        }
    }
    INLINE void scale_terms(float (&to)[2][terms], const Integers &sums, const Common &common, int, int, float x_scale, float) {
        UNROLL for (int upper = 0; upper < 2; upper++) {
            to[upper][0] = integer_float(sums.of[upper]) * (common.d[upper] * x_scale);
            to[upper][1] = integer_float(sums.of[2 + upper]) * (common.least[upper] * x_scale);
        }
    }
    INLINE void multiply(float (&sum)[4], const Fragments &f, const X &x) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        UNROLL for (int block = 0; block < 2; block++) {
            unsigned b[2];
            block_of(b, x, block);
            int d[4], e[4];
            mma_int8(d, f.quants[block], b, zero);
            mma_int8(e, f.minima[block], b, zero);
            UNROLL for (int i = 0; i < 4; i++) {
                sum[i] += integer_float(d[i]) * (f.d[i / 2] * scale_of(x, block, i));
                sum[i] += integer_float(e[i]) * (f.least[i / 2] * scale_of(x, block, i));
            }
        }
    }
};
template <class Q> INLINE float element(MinimaOfHalves<Q>, const Element &p, int row) {
    const unsigned char *w = p.slab + Q::bytes, *d = w + 256 + row % 8 * 8 + row % tile_rows / 8 * 4;
    int factors = w[row % tile_rows * 16 + 2 * p.block + p.byte % 16 / 8];
    return half_at(d) * (float)(Q::at(p) * (factors & 15)) + half_at(d + 2) * (float)-(factors >> 4);
}

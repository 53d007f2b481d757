// Quants of four bits that stand for one of 16 values, and scales that these formats have.
#pragma once
#include "scaled.h"

// The values, as signed bytes: of the IQ4 formats, of the FP4 formats.
struct IQ4Values { static constexpr unsigned words[4] = {0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}; };
struct FP4Values { static constexpr unsigned words[4] = {0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu}; };

// Looked unpacks quants, which lie in the planes of Quants, to the values that they stand for.
template <int slab_columns, class Values> struct Looked : Quants<slab_columns, 4, 0, false> {
    using Places = Quants<slab_columns, 4, 0, false>;

    INLINE void unpack(unsigned (&quants)[2][4], const typename Places::Part &part, const typename Places::Common &, int) {
        UNROLL for (int i = 0; i < 4; i++) look_up(quants[0][i], quants[1][i], word_of(part.low_bits[0], i));
    }
    // look_up replaces four low and four high halves of bytes by values. permute_bytes finds four of eight values
    // by three bits each; a second one then chooses by the fourth bit.
    INLINE void look_up(unsigned &low, unsigned &high, unsigned pairs) {
        const unsigned three = pairs & 0x77777777u, fourth = 0x32103210u | (pairs & 0x88888888u) >> 1;
        const unsigned first = four_values(three, fourth), second = four_values(three >> 16, fourth >> 16);
        low = permute_bytes(first, second, 0x6420u);
        high = permute_bytes(first, second, 0x7531u);
    }
    INLINE unsigned four_values(unsigned three, unsigned fourth) {
        return permute_bytes(permute_bytes(Values::words[0], Values::words[1], three), permute_bytes(Values::words[2], Values::words[3], three), fourth);
    }
    INLINE int at(const Element &p) {
        int place = Places::at(p);
        return (signed char)(Values::words[place / 4] >> place % 4 * 8);
    }
};

// Each block has a scale of its own, 2^(e−128): for rows 0 … 15, the e of each of 4 blocks, as bytes.
struct ExponentScales {
    static constexpr bool has_minima = false;
    static constexpr int bytes = 64;
    struct Common { unsigned exponents[2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.exponents[0] = load4(w + lane / 4 * 4);
        common.exponents[1] = load4(w + (32 + lane / 4 * 4));
    }
    INLINE void unpack(float (&scale)[2][2], float (&)[2][2], const Common &common, int number) {
        UNROLL for (int block = 0; block < 2; block++)
            UNROLL for (int upper = 0; upper < 2; upper++) scale[block][upper] = power(common.exponents[upper] >> (2 * number + block) * 8 & 255);
    }
    INLINE void unpack_one(float (&scale)[2], float (&)[2], const Common &common, int, int t) {
        UNROLL for (int upper = 0; upper < 2; upper++) scale[upper] = power(common.exponents[upper] >> t * 8 & 255);
    }
    INLINE float power(unsigned e) { return bits_float(e < 2 ? 0x200000u << e : (e - 1) << 23); }  // the smallest two are subnormal
    INLINE float scale_at(const unsigned char *w, int block, int row) { return power(w[row * 4 + block]); }
    INLINE float minimum_at(const unsigned char *, int, int) { return 0; }
};

// A super-block of each row has a scale d, and each block a signed factor of it:
//   factors: rows 0 … 15: 8 factors, one per block, as bytes, each + 128
//   d:       for g = 0 … 7: of row g, of row g+8, half precision
struct SignedFactors {
    static constexpr bool has_minima = false;
    static constexpr int bytes = 128 + 32;
    struct Common { uint2 factors[2]; float d[2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.factors[0] = load8(w + lane / 4 * 8);
        common.factors[1] = load8(w + (64 + lane / 4 * 8));
        unsigned d = load4(w + (128 + lane / 4 * 4));
        common.d[0] = from_half((unsigned short)d);
        common.d[1] = from_half((unsigned short)(d >> 16));
    }
    INLINE void unpack(float (&scale)[2][2], float (&)[2][2], const Common &common, int number) {
        UNROLL for (int upper = 0; upper < 2; upper++) {
            const unsigned factors = number < 2 ? common.factors[upper].x : common.factors[upper].y;
            UNROLL for (int block = 0; block < 2; block++)
                scale[block][upper] = common.d[upper] * byte_float(factors, number % 2 * 2 + block, 0x4b000000u, 8388608.0f + 128.0f);
        }
    }
    INLINE void unpack_one(float (&scale)[2], float (&)[2], const Common &common, int four, int t) {
        UNROLL for (int upper = 0; upper < 2; upper++)
            scale[upper] = common.d[upper] * byte_float(four ? common.factors[upper].y : common.factors[upper].x, t, 0x4b000000u, 8388608.0f + 128.0f);
    }
    INLINE float scale_at(const unsigned char *w, int block, int row) {
        return half_at(w + 128 + row % 8 * 4 + row / 8 * 2) * (float)((int)w[row * 8 + block] - 128);
    }
    INLINE float minimum_at(const unsigned char *, int, int) { return 0; }
};

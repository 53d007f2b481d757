// Products of quantised weights and quantised activations. The tensor cores sum the 32 products of
// a block as integers, which is exact. Then sum += float(integer) · (weight scale · activation
// scale). In formats with minima also sum += minimum · (activation scale · sum of the activations'
// quants). In formats with a factor for each 16 columns, the integers contain these factors, and the scales
// are those of the super-block (halves.h). This is done block after block, with every operation rounded
// separately. So the bits are those of ref.MatMulQuantizedRanges on every machine, and with one range those
// of ref.MatMulQuantized.
//
// Converting integers to floats is slow. Instead, the tensor cores add the integers to the bits of
// 1.5·2²³, where neighbouring floats are 1 apart. That works below 2²².
#pragma once
#include "alone.h"

constexpr int magic_bits = 0x4b400000;
constexpr float magic = 12582912.0f;  // 1.5·2²³
INLINE float integer_float(int d) { return bits_float((unsigned)d) - magic; }
// scaled_float is the integer times a power of two that is at most 1. It is exact.
INLINE float scaled_float(int d, float unit) { return fma_rn(bits_float((unsigned)d), unit, -magic * unit); }

// byte_float converts byte i of a word to a float, times a power of two, and subtracts a number. base is
// the bits of that power times 2²³, where neighbouring floats are one unit of the byte apart. byte_bits
// leaves the subtraction to its caller.
INLINE float byte_bits(unsigned word, int i, unsigned base) { return bits_float(permute_bytes(word, base, 0x7640u | (unsigned)i)); }
INLINE float byte_float(unsigned word, int i, unsigned base, float subtract) { return byte_bits(word, i, base) - subtract; }

// A part of x: two blocks of 32 columns.
struct IntegerX {
    uint4 quants;
    uint4 factors[2];  // of a block: scale and scale · sum, of rows 2t and 2t+1
};
template <class Place> INLINE void load_quants(IntegerX &x, Place slab, int part, int lane) {
    x.quants = load16(slab + (part / 2 * IntegerActivations::slab_bytes + part % 2 * 512 + lane * 16));
}
template <class Place> INLINE void load_two_factors(IntegerX &x, Place slab, int part, int lane) {
    const Place factors = slab + (part / 2 * IntegerActivations::slab_bytes + IntegerActivations::factors_offset(0, part % 2 * 2));
    x.factors[0] = load16(factors + lane % 4 * 16);
    x.factors[1] = load16(factors + 64 + lane % 4 * 16);
}
INLINE void block_of(unsigned (&b)[2], const IntegerX &x, int block) {
    b[0] = block ? x.quants.z : x.quants.x;
    b[1] = block ? x.quants.w : x.quants.y;
}
INLINE float scale_of(const IntegerX &x, int block, int e) { return bits_float(e % 2 ? x.factors[block].z : x.factors[block].x); }
INLINE float scaled_sum_of(const IntegerX &x, int block, int e) { return bits_float(e % 2 ? x.factors[block].w : x.factors[block].y); }

INLINE unsigned word_of(const uint4 &v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
// word_of_lane is word_of for an i that differs between lanes. The compiler would make branches of word_of.
INLINE unsigned word_of_lane(const uint4 &v, int i) {
    const unsigned even = i & 2 ? v.z : v.x, odd = i & 2 ? v.w : v.y;
    return i & 1 ? odd : even;
}

struct IntegerFormat {
    using Activations = IntegerActivations;
    using X = IntegerX;
    static constexpr int block_groups = 8, pieces = 1, steps = 1;
    static constexpr bool ahead = false;
    static constexpr int factor_bytes = 8;  // of a row and block
    template <class Place> INLINE void load_x(X &x, Place slab, int part, int lane) { load_quants(x, slab, part, lane); }
    template <class Place> INLINE void load_factors(X &x, Place slab, int part, int lane) { load_two_factors(x, slab, part, lane); }
    template <class Place> INLINE void load_factor(X &x, Place slab, int part, int e) {
        const Place factors = slab + (part / 2 * IntegerActivations::slab_bytes + IntegerActivations::factors_offset(0, part % 2 * 2));
        UNROLL for (int block = 0; block < 2; block++) {
            uint2 of = load8(factors + block * group_rows * factor_bytes);
            (e ? x.factors[block].z : x.factors[block].x) = of.x;
            (e ? x.factors[block].w : x.factors[block].y) = of.y;
        }
    }
};

// An Element is the place of an element of a row in slabs that store bytes in the order of Q8_0.
struct Element {
    const unsigned char *slab;
    int block, byte;  // number of the block of 32 columns in the slab, byte in the block's 512
};
template <class Format> INLINE Element element_of(const unsigned char *weights, int row, int column, int slabs) {
    int i = column % 32;
    return {weights + ((size_t)(row / tile_rows) * slabs + column / Format::columns) * Format::slab_bytes, column % Format::columns / 32,
        (row % 8 * 4 + i % 16 / 4) * 16 + (row % tile_rows / 8 + i / 16 * 2) * 4 + i % 4};
}
INLINE float half_at(const unsigned char *p) { return from_half(*(const unsigned short *)p); }

// embed_* writes row ids[i] of the weights to row i of y (m, k), one block per row.
template <class Format> INLINE void embed_rows(float *y, const unsigned char *weights, const int *ids, int k, int slabs) {
    const int id = ids[blockIdx.x];
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        y[(size_t)blockIdx.x * k + i] = element(Format{}, element_of<Format>(weights, id, i, slabs), id);
}

// EMBED exports embed_rows. A format has a function element(Format, element, row), which returns one weight,
// rounded like ref.Format.Dequantize.
#define EMBED(name, Format)                                                                                          \
    extern "C" __global__ void name(float *y, const unsigned char *weights, const int *ids, int k, int slabs) {      \
        embed_rows<Format>(y, weights, ids, k, slabs);                                                               \
    }                                                                                                                \
    EXPORT(name)

// PRODUCTS exports all kernels of a format. The kernel for one row takes few registers, so that a
// multiprocessor holds 32 warps.
#define PRODUCTS(name, Format)                                                                     \
    MATMUL_ROWS(matmul_##name##_row, warp_size * most_warps, 2, (multiply_rows<Format, 1, Alone>)) \
    MATMUL_ROWS(matmul_##name##_norm_row, warp_size * most_warps, 2, (multiply_rows<Format, 1, NormedAlone>)) \
    MATMUL(matmul_##name, Format)                                                                  \
    EXPERTS(matmul_##name, Format)                                                                 \
    EMBED(embed_##name, Format)

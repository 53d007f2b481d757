// Products of quantised weights and quantised activations. The tensor cores sum the 32 products of
// a block as integers, which is exact. Then sum += float(integer) · (weight scale · activation
// scale), and in formats with minima also sum += minimum · (activation scale · sum of the
// activations' quants), block after block, with every operation rounded separately. So the bits are
// those of ref.MatMulQuantizedRanges on every machine, and with one range those of
// ref.MatMulQuantized.
//
// Converting integers to floats is slow. Instead, the tensor cores add the integers to the bits of
// 1.5·2²³, where neighbouring floats are 1 apart. That works below 2²².
#include "matmul.h"

constexpr int magic_bits = 0x4b400000;
constexpr float magic = 12582912.0f;  // 1.5·2²³
INLINE float integer_float(int d) { return bits_float((unsigned)d) - magic; }

// byte_float converts byte i of a word to a float. base is the bits of 2²³, or of 2²¹, where
// neighbouring floats are ¼ apart.
INLINE float byte_float(unsigned word, int i, unsigned base, float subtract) {
    return bits_float(permute_bytes(word, base, 0x7440u | (unsigned)i)) - subtract;
}

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

struct IntegerFormat {
    using Activations = IntegerActivations;
    using X = IntegerX;
    static constexpr int block_groups = 8, pieces = 1, tile_unroll = 1;
    template <class Place> INLINE void load_x(X &x, Place slab, int part, int lane) { load_quants(x, slab, part, lane); }
    template <class Place> INLINE void load_factors(X &x, Place slab, int part, int lane) { load_two_factors(x, slab, part, lane); }
};

// Q8_0. A slab is 16 rows × 128 columns:
//   quants: 4 blocks of 512 bytes: lane (g, t) has columns 4t … 4t+3 of row g and of row g+8, then
//           columns 4t+16 … 4t+19 of row g and of row g+8
//   scales: for g = 0 … 7, for each of 4 blocks: half precision of row g, of row g+8
struct Q8_0 : IntegerFormat {
    static constexpr int columns = 128, slab_bytes = 2048 + 128, parts = 2, most_ranges = 16, resident = 1, resident_tiles = 2, stages = 3;
    struct Part { uint4 quants[2]; };
    struct Common { uint4 scales; };
    struct Fragments { uint4 quants[2]; float scale[2][2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.scales = load16(w + (2048 + lane / 4 * 16));
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) {
        part.quants[0] = load16(w + (2 * number * 512 + lane * 16));
        part.quants[1] = load16(w + ((2 * number + 1) * 512 + lane * 16));
    }
    INLINE void unpack(Fragments &f, const Part &part, const Common &common, int number) {
        UNROLL for (int block = 0; block < 2; block++) {
            f.quants[block] = part.quants[block];
            unsigned pair = word_of(common.scales, 2 * number + block);
            f.scale[block][0] = from_half((unsigned short)pair);
            f.scale[block][1] = from_half((unsigned short)(pair >> 16));
        }
    }
    INLINE void multiply(float (&sum)[4], const Fragments &f, const X &x) {
        const int zero[4] = {magic_bits, magic_bits, magic_bits, magic_bits};
        UNROLL for (int block = 0; block < 2; block++) {
            const unsigned a[4] = {f.quants[block].x, f.quants[block].y, f.quants[block].z, f.quants[block].w};
            unsigned b[2];
            block_of(b, x, block);
            int d[4];
            mma_int8(d, a, b, zero);
            UNROLL for (int e = 0; e < 4; e++) sum[e] += integer_float(d[e]) * (f.scale[block][e / 2] * scale_of(x, block, e));
        }
    }
};

// Q4_K. A slab is 16 rows × 256 columns, a super-block of each row:
//   quants: 4 pairs of blocks, 512 bytes each: lane (g, t) has 16 bytes in the order of Q8_0; the low
//           nibbles belong to the first block, the high nibbles to the second
//   factors: rows 0 … 15: 8 scale factors and 8 minimum factors, one per block, as bytes
//   d: for g = 0 … 7: d and dmin of row g, of row g+8, half precision
struct Q4_K : IntegerFormat {
    static constexpr int columns = 256, slab_bytes = 2048 + 256 + 64, parts = 4, most_ranges = 8, resident = 2, resident_tiles = 1, stages = 2;
    struct Part { uint4 quants; };
    struct Common { uint4 factors[2]; float d[2], least[2]; };
    struct Fragments { unsigned quants[2][4]; float scale[2][2], minimum[2][2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.factors[0] = load16(w + (2048 + lane / 4 * 16));
        common.factors[1] = load16(w + (2048 + 128 + lane / 4 * 16));
        uint2 d = load8(w + (2048 + 256 + lane / 4 * 8));
        common.d[0] = from_half((unsigned short)d.x);
        common.d[1] = from_half((unsigned short)d.y);
        common.least[0] = -from_half((unsigned short)(d.x >> 16));
        common.least[1] = -from_half((unsigned short)(d.y >> 16));
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) {
        part.quants = load16(w + (number * 512 + lane * 16));
    }
    INLINE void unpack(Fragments &f, const Part &part, const Common &common, int number) {
        UNROLL for (int i = 0; i < 4; i++) {
            unsigned nibbles = word_of(part.quants, i);
            f.quants[0][i] = nibbles & 0x0f0f0f0fu;
            f.quants[1][i] = nibbles >> 4 & 0x0f0f0f0fu;
        }
        UNROLL for (int upper = 0; upper < 2; upper++) {
            UNROLL for (int block = 0; block < 2; block++) {
                int byte = (2 * number + block) % 4;
                unsigned scales = word_of(common.factors[upper], number / 2), minima = word_of(common.factors[upper], 2 + number / 2);
                f.scale[block][upper] = common.d[upper] * byte_float(scales, byte, 0x4b000000u, 8388608.0f);
                f.minimum[block][upper] = common.least[upper] * byte_float(minima, byte, 0x4b000000u, 8388608.0f);
            }
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
                sum[e] += integer_float(d[e]) * (f.scale[block][e / 2] * scale_of(x, block, e));
                sum[e] += f.minimum[block][e / 2] * scaled_sum_of(x, block, e);
            }
        }
    }
};

// Q6_K. A slab is 16 rows × 256 columns, a super-block of each row:
//   low:    the lower 4 bits of the quants as in Q4_K, 2048 bytes
//   high:   the upper 2 bits, the top bit inverted: 2 × 512 bytes for 4 blocks each, in the same order;
//           the top bits of a byte belong to the first block
//   scales: rows 0 … 15: 16 signed bytes, one per 16 columns, each + 128
//   d:      for g = 0 … 7: of row g, of row g+8, half precision
// With its top bit inverted, a quant is a signed 6-bit number: the quant minus 32. As the top bits of a
// signed byte it is four times as large. The scale is divided by 4, which is exact.
struct Q6_K : IntegerFormat {
    static constexpr int columns = 256, slab_bytes = 2048 + 1024 + 256 + 32, parts = 4, most_ranges = 8, resident = 2, resident_tiles = 1, stages = 2;
    struct Part { uint4 low; };
    struct Common { uint4 high[2], scales[2]; float d[2]; };
    struct Fragments { unsigned quants[2][4]; float d[2], scale[2][2][2]; };  // scale[block][half of it][upper row]

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.high[0] = load16(w + (2048 + lane * 16));
        common.high[1] = load16(w + (2048 + 512 + lane * 16));
        common.scales[0] = load16(w + (3072 + lane / 4 * 16));
        common.scales[1] = load16(w + (3072 + 128 + lane / 4 * 16));
        unsigned d = load4(w + (3072 + 256 + lane / 4 * 4));
        common.d[0] = from_half((unsigned short)d);
        common.d[1] = from_half((unsigned short)(d >> 16));
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) {
        part.low = load16(w + (number * 512 + lane * 16));
    }
    INLINE void unpack(Fragments &f, const Part &part, const Common &common, int number) {
        UNROLL for (int i = 0; i < 4; i++) {
            unsigned low = word_of(part.low, i), high = word_of(number < 2 ? common.high[0] : common.high[1], i) << number % 2 * 4;
            f.quants[0][i] = (low << 2 & 0x3c3c3c3cu) | (high & 0xc0c0c0c0u);
            f.quants[1][i] = (low >> 2 & 0x3c3c3c3cu) | (high << 2 & 0xc0c0c0c0u);
        }
        f.d[0] = common.d[0];
        f.d[1] = common.d[1];
        UNROLL for (int upper = 0; upper < 2; upper++)
            UNROLL for (int i = 0; i < 4; i++)
                f.scale[i / 2][i % 2][upper] = byte_float(word_of(common.scales[upper], number), i, 0x4a000000u, 2097152.0f + 32.0f);
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
                // Integers below 2²⁴: exact, fused or not.
                float product = fma_rn(integer_float(e[i]), f.scale[block][1][i / 2], integer_float(d[i]) * f.scale[block][0][i / 2]);
                sum[i] += product * (f.d[i / 2] * scale_of(x, block, i));
            }
        }
    }
};

MATMUL(matmul_q8_0, Q8_0)
MATMUL(matmul_q4_k, Q4_K)
MATMUL(matmul_q6_k, Q6_K)

// quantise_rows quantises x (m, k) by the rule of ref.QuantizeRow; k is a multiple of 32. Blocks of 256
// threads, grid (⌈slabs/8⌉, m). A thread has four columns, eight threads have a block of 32.
extern "C" __global__ void __launch_bounds__(256) quantise_rows(unsigned char *to, const float *x, int k, int slabs) {
    const int four = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    uint4 v = {};
    if (4 * four < k) v = load_cached(x + (size_t)row * k + 4 * four);
    const float values[4] = {bits_float(v.x), bits_float(v.y), bits_float(v.z), bits_float(v.w)};
    quantise_four(to, values, row, four, slabs);
}
EXPORT(quantise_rows)

// An Element is the place of an element of a row in slabs that store bytes in the order of Q8_0.
struct Element {
    const unsigned char *slab;
    int block, byte;  // block of 32 columns, byte in its 512
};
template <class Format> INLINE Element element_of(const unsigned char *weights, int row, int column, int slabs) {
    int i = column % 32;
    return {weights + ((size_t)(row / tile_rows) * slabs + column / Format::columns) * Format::slab_bytes, column % Format::columns / 32,
        (row % 8 * 4 + i % 16 / 4) * 16 + (row % tile_rows / 8 + i / 16 * 2) * 4 + i % 4};
}
INLINE float half_at(const unsigned char *p) { return from_half(*(const unsigned short *)p); }

// element returns one weight, rounded like ref.Format.Dequantize.
INLINE float element(Q8_0, const Element &p, int row) {
    float scale = half_at(p.slab + 2048 + row % 8 * 16 + p.block * 4 + row % tile_rows / 8 * 2);
    return scale * (float)(signed char)p.slab[p.block * 512 + p.byte];
}
INLINE float element(Q4_K, const Element &p, int row) {
    const unsigned char *factors = p.slab + 2048 + row % tile_rows * 16, *d = p.slab + 2048 + 256 + row % 8 * 8 + row % tile_rows / 8 * 4;
    int quant = p.slab[p.block / 2 * 512 + p.byte] >> p.block % 2 * 4 & 15;
    return half_at(d) * (float)factors[p.block] * (float)quant + -half_at(d + 2) * (float)factors[8 + p.block];
}
INLINE float element(Q6_K, const Element &p, int row) {
    int low = p.slab[p.block / 2 * 512 + p.byte] >> p.block % 2 * 4 & 15;
    int high = (p.slab[2048 + p.block / 4 * 512 + p.byte] >> (6 - p.block % 4 * 2) & 3) ^ 2;
    int scale = (int)p.slab[3072 + row % tile_rows * 16 + 2 * p.block + p.byte % 16 / 8] - 128;
    return half_at(p.slab + 3072 + 256 + row % 8 * 4 + row % tile_rows / 8 * 2) * (float)((low + 16 * high - 32) * scale);
}

// embed_* writes row ids[i] of the weights to row i of y (m, k), one block per row.
template <class Format> INLINE void embed_rows(float *y, const unsigned char *weights, const int *ids, int k, int slabs) {
    const int id = ids[blockIdx.x];
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        y[(size_t)blockIdx.x * k + i] = element(Format{}, element_of<Format>(weights, id, i, slabs), id);
}

#define EMBED(name, Format)                                                                                          \
    extern "C" __global__ void name(float *y, const unsigned char *weights, const int *ids, int k, int slabs) {      \
        embed_rows<Format>(y, weights, ids, k, slabs);                                                               \
    }                                                                                                                \
    EXPORT(name)
EMBED(embed_q8_0, Q8_0)
EMBED(embed_q4_k, Q4_K)
EMBED(embed_q6_k, Q6_K)

// Products with weights in the formats that most files have.
#include "scaled.h"

using Q8_0 = Scaled<Quants<128, 8, 0, true>, BlockScales<false>>;
using Q4_K = Scaled<Quants<256, 4, 0, false>, Factors>;

// Q6_K. A slab is 16 rows × 256 columns, a super-block of each row:
//   low:    the lower 4 bits of the quants as in Q4_K, 2048 bytes
//   high:   the upper 2 bits, the top bit inverted: 2 × 512 bytes for 4 blocks each, in the same order;
//           the top bits of a byte belong to the first block
//   scales: rows 0 … 15: 16 signed bytes, one per 16 columns, each + 128
//   d:      for g = 0 … 7: of row g, of row g+8, half precision
// With its top bit inverted, a quant is a signed 6-bit number: the quant minus 32. It is used as the top
// bits of a signed byte, which is four times the number. So the scale is divided by 4, which is exact.
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
                // All numbers are integers below 2²⁴, so the result is exact, fused or not.
                float product = fma_rn(integer_float(e[i]), f.scale[block][1][i / 2], integer_float(d[i]) * f.scale[block][0][i / 2]);
                sum[i] += product * (f.d[i / 2] * scale_of(x, block, i));
            }
        }
    }
};

// element is rounded like ref.Format.Dequantize.
INLINE float element(Q6_K, const Element &p, int row) {
    int low = p.slab[p.block / 2 * 512 + p.byte] >> p.block % 2 * 4 & 15;
    int high = (p.slab[2048 + p.block / 4 * 512 + p.byte] >> (6 - p.block % 4 * 2) & 3) ^ 2;
    int scale = (int)p.slab[3072 + row % tile_rows * 16 + 2 * p.block + p.byte % 16 / 8] - 128;
    return half_at(p.slab + 3072 + 256 + row % 8 * 4 + row % tile_rows / 8 * 2) * (float)((low + 16 * high - 32) * scale);
}

PRODUCTS(q8_0, Q8_0)
PRODUCTS(q4_k, Q4_K)
PRODUCTS(q6_k, Q6_K)

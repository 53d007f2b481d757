// Products with weights in bfloat16 and half precision, in float32 sums.
#include "chosen.h"

// Weights (n, k) as 16-bit numbers. A slab is 16 rows × 128 columns in 8 steps of 16 columns, 512
// bytes each. Lane (g, t), g = lane/4 and t = lane%4, has 16 bytes of a step: columns 2t, 2t+1 of
// row g and of row g+8, then columns 2t+8, 2t+9 of row g and of row g+8. Order along k: ascending
// steps.
template <bool is_half> struct FloatFormat {
    using Activations = FloatActivations<is_half>;
    static constexpr int columns = slab_columns, slab_bytes = 4096, parts = 4;
    static constexpr int most_ranges = 16, resident = 1;
    static constexpr int block_groups = 16, pieces = 2, stages = 3, resident_tiles = 1;
    static constexpr bool ahead = true;
    static constexpr int step_bytes = 512;

    struct Part { uint4 steps[2]; };
    struct Common {};
    using Fragments = Part;
    struct X { uint4 steps; };

    template <class Place> INLINE void load_common(Common &, Place, int) {}
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) {
        part.steps[0] = load16(w + (2 * number * step_bytes + lane * 16));
        part.steps[1] = load16(w + ((2 * number + 1) * step_bytes + lane * 16));
    }
    INLINE void unpack(Fragments &f, const Part &part, const Common &, int) { f = part; }
    template <int rows = group_rows, class Place> INLINE void load_x(X &x, Place slab, int part, int lane) {
        x.steps = load16(slab + (part * FloatActivations<is_half, rows>::part_bytes + lane * 16));
    }
    template <class Place> INLINE void load_factors(X &, Place, int, int) {}
    template <class Place> INLINE void load_factor(X &, Place, int, int) {}
    static constexpr int factor_bytes = 0;
    static constexpr int steps = 2;
    INLINE void multiply_step(float (&sum)[4], const Fragments &f, const X &x, int step) {
        const unsigned a[4] = {f.steps[step].x, f.steps[step].y, f.steps[step].z, f.steps[step].w};
        const unsigned b[2] = {step ? x.steps.z : x.steps.x, step ? x.steps.w : x.steps.y};
        if (is_half) mma_half(sum, a, b);
        else mma_bfloat16(sum, a, b);
    }
    INLINE void multiply(float (&sum)[4], const Fragments &f, const X &x) {
        UNROLL for (int step = 0; step < steps; step++) multiply_step(sum, f, x, step);
    }
};

// NormedRow is one row of the stream, normalised, in a group of its own.
template <class Format, int> struct NormedRow {
    using Layout = FloatActivations<false, 1>;
    static constexpr bool normed = true;
    const Staged first;
    INLINE_MEMBER NormedRow(const Product &p, unsigned char *shared) : first{to_shared(shared)} { normalise<Layout>(shared, p.stream, p.slabs); }
    INLINE_MEMBER static int shared_bytes(const Product &p) { return p.slabs * Layout::slab_bytes; }
    INLINE_MEMBER Staged place(int slab) const { return first + slab * Layout::slab_bytes; }
    INLINE_MEMBER void load(typename Format::X &row, Staged x, int, int part, int lane) const {
        if (lane / 4 == 0) Format::template load_x<1>(row, x, part, lane);
    }
};

using Bfloat16 = FloatFormat<false>;
using Half = FloatFormat<true>;
MATMUL(matmul_bfloat16, Bfloat16)
MATMUL_ROWS(matmul_bfloat16_norm_row, 512, 1, (multiply_rows<Bfloat16, 1, NormedRow>))
MATMUL(matmul_half, Half)
EXPERTS(matmul_bfloat16, Bfloat16)
EXPERTS(matmul_half, Half)

// round_rows rounds x (m, k) to bfloat16; grid (any, m).
INLINE void round_rows(unsigned char *to, const float *x, int k, int slabs) {
    const float *row = x + (size_t)blockIdx.y * k;
    for (int pair = blockIdx.x * blockDim.x + threadIdx.x; pair < slabs * (slab_columns / 2); pair += gridDim.x * blockDim.x)
        round_pair<false>(to + FloatActivations<false>::pair_offset(blockIdx.y, pair, slabs),
            2 * pair < k ? row[2 * pair] : 0.0f, 2 * pair + 1 < k ? row[2 * pair + 1] : 0.0f);
}

// scale_and_round_rows scales each row of x (m, k) by a power of two, at most 2¹²⁶, and rounds it to half
// precision. The largest magnitude becomes 2¹⁴ to 2¹⁵, or less where 2¹²⁶ is not enough, so that half
// precision neither overflows nor loses small rows. A row whose largest magnitude is below 2⁻¹³³, or with NaN or
// infinity, is not scaled. Grid (1, m).
INLINE void scale_and_round_rows(unsigned char *to, const float *x, int k, int slabs) {
    SHARED(float, peaks, [warp_size]);
    using Activations = FloatActivations<true>;
    const int row = blockIdx.y;
    x += (size_t)row * k;
    unsigned largest = 0;  // as bits, which compare like the magnitudes; NaN is above all
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        unsigned magnitude = float_bits(x[i]) & 0x7fffffffu;
        largest = magnitude > largest ? magnitude : largest;
    }
    // block_max compares floats, which hold the upper 16 bits exactly; they give the exponent.
    unsigned upper = (unsigned)block_max((float)(largest >> 16), peaks);
    int shift = upper == 0 || upper >= 0x7f80u ? 0 : 14 + 127 - (int)(upper >> 7);
    shift = shift > 126 ? 126 : shift;
    const float factor = bits_float((unsigned)(127 + shift) << 23);
    if (threadIdx.x == 0)
        *(float *)(to + row / group_rows * (Activations::header_bytes + (size_t)slabs * Activations::slab_bytes) + row % group_rows * 4) =
            bits_float((unsigned)(127 - shift) << 23);
    for (int pair = threadIdx.x; pair < slabs * (slab_columns / 2); pair += blockDim.x)
        round_pair<true>(to + Activations::pair_offset(row, pair, slabs),
            2 * pair < k ? x[2 * pair] * factor : 0.0f, 2 * pair + 1 < k ? x[2 * pair + 1] * factor : 0.0f);
}

#define ROUND(name, call)                                                                                     \
    extern "C" __global__ void name(unsigned char *to, const float *x, int k, int slabs) { call(to, x, k, slabs); } \
    EXPORT(name)
ROUND(round_bfloat16, round_rows)
ROUND(round_half, scale_and_round_rows)

// embed_* writes row ids[i] of the weights to row i of y (m, k), one block per row.
template <bool is_half> INLINE void embed_rows(float *y, const unsigned char *weights, const int *ids, int k, int slabs) {
    const int id = ids[blockIdx.x], g = id % 8, upper = id % tile_rows / 8;
    const unsigned char *tile = weights + (size_t)(id / tile_rows) * slabs * FloatFormat<is_half>::slab_bytes;
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        int step = i / 16, lane = g * 4 + i % 8 / 2, word = upper + i % 16 / 8 * 2;
        unsigned short v = *(const unsigned short *)(tile + (size_t)step * 512 + lane * 16 + word * 4 + i % 2 * 2);
        y[(size_t)blockIdx.x * k + i] = is_half ? from_half(v) : from_bfloat16(v);
    }
}

#define EMBED(name, call)                                                                                                           \
    extern "C" __global__ void name(float *y, const unsigned char *weights, const int *ids, int k, int slabs) { call(y, weights, ids, k, slabs); } \
    EXPORT(name)
EMBED(embed_bfloat16, embed_rows<false>)
EMBED(embed_half, embed_rows<true>)

// Converts rows to the operand of a product: the layout of activations.h. Kernels whose result only a
// product reads can write the operand directly, except in half precision (epilogue.h says why); that saves
// a launch, and writing the row as float32.
#pragma once
#include "activations.h"

// round_pair writes two numbers in 16 bits each.
template <bool is_half> INLINE void round_pair(unsigned char *to, float a, float b) {
    unsigned low = is_half ? to_half(a) : to_bfloat16(a), high = is_half ? to_half(b) : to_bfloat16(b);
    *(unsigned *)to = high << 16 | low;
}

// quantise_four quantises columns 4·four … 4·four+3 of a row by the rule of ref.QuantizeRow. Whole
// warps call it with ascending four; eight threads have a block of 32 columns.
template <class Layout = IntegerActivations> INLINE void quantise_four(unsigned char *to, const float (&values)[4], int row, int four, int slabs) {
    unsigned largest = 0;  // as bits, which compare like the magnitudes; NaN is above all
    UNROLL for (int i = 0; i < 4; i++) {
        unsigned magnitude = float_bits(values[i]) & 0x7fffffffu;
        largest = magnitude > largest ? magnitude : largest;
    }
    UNROLL for (int o = 1; o < 8; o *= 2) {
        unsigned other = __shfl_xor_sync(full_warp, largest, o);
        largest = other > largest ? other : largest;
    }
    float a = bits_float(largest), scale = divide_rn(a, 127.0f), inverse = divide_rn(127.0f, a);
    if (largest >= 0x7f800000u) {
        scale = bits_float(0x7fc00000u);
        inverse = 0.0f;
    } else if (a < 0x1p-118f) {
        scale = inverse = 0.0f;
    }
    unsigned word = 0;
    int total = 0;
    UNROLL for (int i = 0; i < 4; i++) {
        int quant = inverse == 0.0f ? 0 : (int)round_even(values[i] * inverse);
        word |= ((unsigned)quant & 255u) << 8 * i;
        total += quant;
    }
    UNROLL for (int o = 1; o < 8; o *= 2) total += __shfl_xor_sync(full_warp, total, o);
    if (four >= slabs * (slab_columns / 4)) return;
    unsigned char *slab = to + Layout::slab_offset(row, four / 32, slabs);
    *(unsigned *)(slab + Layout::four_offset(row, four % 32)) = word;
    if (four % 8 != 0) return;
    float *factors = (float *)(slab + Layout::factors_offset(row, four % 32 / 8));
    factors[0] = scale;
    factors[1] = scale * (float)total;
}

// swiglu_of is silu(gate)·up, silu(x) = x / (1 + e^−x).
INLINE float swiglu_of(float gate, float up) { return divide_rn(gate, 1.0f + exp_rn(-gate)) * up; }

// take sets `values` to the numbers from column k on of a row that has n. A Value that can compute several
// neighbouring columns at once has a take of its own.
template <int count, class Value> INLINE void take(float (&values)[count], const Value &value, int k, int n) {
    UNROLL for (int i = 0; i < count; i++) values[i] = k + i < n ? value(k + i) : 0.0f;
}

// An Operand writes a row to `to`: columns 0 … k−1 are value(column), the rest of the last slab is
// zeros. The threads of the blocks blockIdx.x = 0 … share the row. Blocks have whole warps.
// write_part writes columns from … end−1, whole blocks of 32, of some rows; they are value(row, column).
// The threads of one block share the work.
struct Bfloat16Operand {
    using Activations = FloatActivations<false>;
    template <class Value> INLINE_MEMBER void write(unsigned char *to, int row, int k, int slabs, const Value &value) {
        for (int pair = blockIdx.x * blockDim.x + threadIdx.x; pair < slabs * (slab_columns / 2); pair += gridDim.x * blockDim.x) {
            float values[2];
            take(values, value, 2 * pair, k);
            round_pair<false>(to + FloatActivations<false>::pair_offset(row, pair, slabs), values[0], values[1]);
        }
    }
    template <class Value> INLINE_MEMBER void write_part(unsigned char *to, int first, int rows, int from, int end, int slabs, const Value &value) {
        const int pairs = (end - from) / 2;
        for (int i = threadIdx.x; i < rows * pairs; i += blockDim.x) {
            int row = first + i / pairs, pair = from / 2 + i % pairs;
            round_pair<false>(to + FloatActivations<false>::pair_offset(row, pair, slabs), value(row, 2 * pair), value(row, 2 * pair + 1));
        }
    }
};
struct IntegerOperand {
    using Activations = IntegerActivations;
    template <class Value> INLINE_MEMBER void write(unsigned char *to, int row, int k, int slabs, const Value &value) {
        for (int four = blockIdx.x * blockDim.x + threadIdx.x; four < slabs * (slab_columns / 4); four += gridDim.x * blockDim.x) {
            float values[4];
            take(values, value, 4 * four, k);
            quantise_four(to, values, row, four, slabs);
        }
    }
    template <class Value> INLINE_MEMBER void write_part(unsigned char *to, int first, int rows, int from, int end, int slabs, const Value &value) {
        const int fours = (end - from) / 4, all = rows * fours;
        for (int i = threadIdx.x; i < (all + warp_size - 1) / warp_size * warp_size; i += blockDim.x) {
            bool exists = i < all;  // threads without work call quantise_four too, which needs whole warps
            int row = first + (exists ? i / fours : 0), four = exists ? from / 4 + i % fours : slabs * (slab_columns / 4);
            float values[4];
            UNROLL for (int j = 0; j < 4; j++) values[j] = exists ? value(row, 4 * four + j) : 0.0f;
            quantise_four(to, values, row, four, slabs);
        }
    }
};

// FOR_EACH_OPERAND calls the macro DEFINE(suffix, operand) for each kind of operand, to define a kernel for it.
#define FOR_EACH_OPERAND(DEFINE)        \
    DEFINE(bfloat16, Bfloat16Operand)   \
    DEFINE(int8, IntegerOperand)

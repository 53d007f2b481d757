// The base of all kernels. The same .cu file is compiled in two ways: by clang to PTX, for GPUs,
// and by g++ with -DEMULATE to fibers on the processor, for tests. The differences are in device.h
// and emulate.h. The rest is the same source for both, so that they agree bit for bit.
//
// Rules that keep the bits equal: no libm; no fused multiply-add unless written as fma_rn; no atomics on
// floats; shared memory through SHARED and DYNAMIC_SHARED; inline assembly in device.h alone; EXPORT for
// every kernel.
#pragma once

#if defined(EMULATE)
#include "emulate.h"
#else
#include "device.h"
#endif

typedef unsigned short half_bits;      // IEEE binary16
typedef unsigned short bfloat16_bits;  // the upper half of a binary32
typedef unsigned long long u64;

constexpr int warp_size = 32;
constexpr int line_bytes = 128;  // what prefetch_l2 loads
constexpr unsigned full_warp = 0xffffffffu;

INLINE int lane_id() { return threadIdx.x & (warp_size - 1); }
INLINE int warp_id() { return threadIdx.x / warp_size; }

INLINE float bfloat16_low(unsigned pair) { return bits_float(pair << 16); }
INLINE float bfloat16_high(unsigned pair) { return bits_float(pair & 0xffff0000u); }
INLINE float from_bfloat16(bfloat16_bits b) { return bits_float((unsigned)b << 16); }

// to_bfloat16 rounds to nearest, ties to even; NaN stays NaN.
INLINE bfloat16_bits to_bfloat16(float f) {
    unsigned u = float_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (bfloat16_bits)((u >> 16) | 0x40u);
    return (bfloat16_bits)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

INLINE float infinity() { return bits_float(0x7f800000u); }

// exp_reduced returns e^r for r = x − n·ln2 with |r| ≤ ln2/2: a polynomial with every fused step written out, so that
// GPU and emulator round alike.
INLINE float exp_reduced(float x, float n) {
    float r = fma_rn(n, -0.693145752f, x);
    r = fma_rn(n, -1.42860677e-06f, r);
    float p = 1.3981999e-3f;
    p = fma_rn(p, r, 8.3333752e-3f);
    p = fma_rn(p, r, 4.1666687e-2f);
    p = fma_rn(p, r, 1.6666664e-1f);
    p = fma_rn(p, r, 0.5f);
    p = fma_rn(p, r, 1.0f);
    return fma_rn(p, r, 1.0f);
}

// exp_rn returns e^x = 2^n · e^r. The relative error is below 1e-6 for normal results.
INLINE float exp_rn(float x) {
    if (!(x < 88.72284f)) return x == x ? infinity() : x;
    if (x < -103.97208f) return 0.0f;
    float n = round_even(x * 1.44269504f), p = exp_reduced(x, n);
    int whole = (int)n, half = whole / 2;  // in two steps, so that a subnormal result rounds once
    return p * bits_float((unsigned)(half + 127) << 23) * bits_float((unsigned)(whole - half + 127) << 23);
}

// exp_falling is exp_rn for x that is at most 0, or NaN. It has no branch, so several of them overlap, and no
// conversion, which takes longer: the sum with `integers`, 1.5·2²³, has no digits after the point, and n in its
// lowest bits.
INLINE float exp_falling(float x) {
    constexpr float integers = 0x1.8p23f;
    const float sum = x * 1.44269504f + integers, p = exp_reduced(x, sum - integers);
    const int whole = (int)(float_bits(sum) - float_bits(integers)), half = whole >> 1;
    const float power = p * bits_float((unsigned)(half + 127) << 23) * bits_float((unsigned)(whole - half + 127) << 23);
    return x < -103.97208f ? 0.0f : power;
}

// tanh_rn is 1 − 2/(e^2x + 1), with an absolute error below 1e-6.
INLINE float tanh_rn(float x) { return 1.0f - divide_rn(2.0f, exp_rn(2.0f * x) + 1.0f); }

INLINE float sigmoid(float x) { return divide_rn(1.0f, 1.0f + exp_rn(-x)); }
INLINE float silu(float x) { return divide_rn(x, 1.0f + exp_rn(-x)); }

// warp_sum adds over a warp by butterflies (lane distances 16, 8, … 1); every lane gets the sum.
INLINE float warp_sum(float v) {
    for (int o = warp_size / 2; o > 0; o /= 2) v += __shfl_xor_sync(full_warp, v, o);
    return v;
}

INLINE float warp_max(float v) {
    for (int o = warp_size / 2; o > 0; o /= 2) {
        float other = __shfl_xor_sync(full_warp, v, o);
        v = other > v ? other : v;
    }
    return v;
}

// block_sum adds over a block of whole warps: each warp by butterflies, then the warps in ascending
// order. sums is shared memory, one float per warp. The next block_sum or block_max may use it at once;
// call __syncthreads before any other write to it.
INLINE float block_sum(float v, float *sums) {
    v = warp_sum(v);
    __syncthreads();
    if (lane_id() == 0) sums[warp_id()] = v;
    __syncthreads();
    v = sums[0];
    for (int w = 1; w < (int)(blockDim.x / warp_size); w++) v += sums[w];
    return v;
}

// block_max is block_sum for the largest value.
INLINE float block_max(float v, float *peaks) {
    v = warp_max(v);
    __syncthreads();
    if (lane_id() == 0) peaks[warp_id()] = v;
    __syncthreads();
    v = peaks[0];
    for (int w = 1; w < (int)(blockDim.x / warp_size); w++) v = peaks[w] > v ? peaks[w] : v;
    return v;
}

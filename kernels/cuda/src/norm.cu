// RMSNorm (Zhang and Sennrich, 2019): x·w/√(mean(x²)+eps) over groups of n numbers.
//
// The order of the sum is part of the definition. Number k belongs to thread k mod (threads per group).
// A thread adds the squares of its numbers in ascending k, fused. Then butterflies add the sums of each warp,
// and the sums of the warps are added in ascending order. So the number of threads must depend on n alone: a
// whole row has a block, a head of q or k has a warp.
#include "operand.h"

constexpr int most_warps = 32;

// rms_norm normalises group blockIdx.x. dst may be x.
extern "C" __global__ void rms_norm(float *dst, const float *x, const float *w, int n, float eps) {
    SHARED(float, sums, [most_warps]);
    dst += (size_t)blockIdx.x * n;
    x += (size_t)blockIdx.x * n;
    float squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) squares = fma_rn(x[k], x[k], squares);
    float factor = inverse_root(block_sum(squares, sums), n, eps);
    for (int k = threadIdx.x; k < n; k += blockDim.x) dst[k] = x[k] * factor * w[k];
}
EXPORT(rms_norm)

// norm_groups is rms_norm with a weight for every column of a row, which has `groups` groups.
extern "C" __global__ void norm_groups(float *dst, const float *x, const float *w, int n, int groups, float eps) {
    SHARED(float, sums, [most_warps]);
    dst += (size_t)blockIdx.x * n;
    x += (size_t)blockIdx.x * n;
    w += (size_t)(blockIdx.x % groups) * n;
    float squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) squares = fma_rn(x[k], x[k], squares);
    float factor = inverse_root(block_sum(squares, sums), n, eps);
    for (int k = threadIdx.x; k < n; k += blockDim.x) dst[k] = x[k] * factor * w[k];
}
EXPORT(norm_groups)

// add_rms_norm first adds y, such as the output of attention, to x, the residual stream. Then it does
// rms_norm on x.
extern "C" __global__ void add_rms_norm(float *dst, float *x, const float *y, const float *w, int n, float eps) {
    SHARED(float, sums, [most_warps]);
    dst += (size_t)blockIdx.x * n;
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        float v = x[k] + y[k];
        x[k] = v;
        squares = fma_rn(v, v, squares);
    }
    float factor = inverse_root(block_sum(squares, sums), n, eps);
    for (int k = threadIdx.x; k < n; k += blockDim.x) dst[k] = x[k] * factor * w[k];
}
EXPORT(add_rms_norm)

// rms_norm_heads normalises small groups, one warp per group. dst may be x.
extern "C" __global__ void rms_norm_heads(float *dst, const float *x, const float *w, int n, int groups, float eps) {
    int group = blockIdx.x * (blockDim.x / warp_size) + warp_id();
    if (group >= groups) return;
    dst += (size_t)group * n;
    x += (size_t)group * n;
    float squares = 0;
    for (int k = lane_id(); k < n; k += warp_size) squares = fma_rn(x[k], x[k], squares);
    float factor = inverse_root(warp_sum(squares), n, eps);
    for (int k = lane_id(); k < n; k += warp_size) dst[k] = x[k] * factor * w[k];
}
EXPORT(rms_norm_heads)

// layer_norm writes (x−mean)·w/√(variance+eps) over group blockIdx.x of n numbers (Ba et al.,
// 2016). The weights are those of group blockIdx.x mod repeats. Both sums are in the order of
// rms_norm. dst may be x.
extern "C" __global__ void layer_norm(float *dst, const float *x, const float *w, int n, int repeats, float eps) {
    SHARED(float, sums, [most_warps]);
    dst += (size_t)blockIdx.x * n;
    x += (size_t)blockIdx.x * n;
    w += (size_t)(blockIdx.x % repeats) * n;
    float sum = 0, squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) sum += x[k];
    float mean = divide_rn(block_sum(sum, sums), (float)n);
    for (int k = threadIdx.x; k < n; k += blockDim.x) squares = fma_rn(x[k] - mean, x[k] - mean, squares);
    float factor = inverse_root(block_sum(squares, sums), n, eps);
    for (int k = threadIdx.x; k < n; k += blockDim.x) dst[k] = (x[k] - mean) * factor * w[k];
}
EXPORT(layer_norm)

// rms_norm_* and add_rms_norm_* write the normalised row blockIdx.y as the operand of a product. With y,
// they also write the sum to x. Grid (1, rows).
template <class Operand>
INLINE void norm_operand(unsigned char *to, float *x, const float *y, const float *w, int n, float eps, int slabs, float *sums) {
    x += (size_t)blockIdx.y * n;
    float squares = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        float v = x[k];
        if (y) x[k] = v += y[(size_t)blockIdx.y * n + k];
        squares = fma_rn(v, v, squares);
    }
    float factor = inverse_root(block_sum(squares, sums), n, eps);
    Operand().write(to, blockIdx.y, n, slabs, [=](int k) { return x[k] * factor * w[k]; });
}

#define NORM_OPERAND(suffix, Operand)                                                                                                   \
    extern "C" __global__ void rms_norm_##suffix(unsigned char *to, float *x, const float *w, int n, float eps, int slabs) {            \
        SHARED(float, sums, [most_warps]);                                                                                              \
        norm_operand<Operand>(to, x, nullptr, w, n, eps, slabs, sums);                                                                  \
    }                                                                                                                                   \
    EXPORT(rms_norm_##suffix)                                                                                                           \
    extern "C" __global__ void add_rms_norm_##suffix(unsigned char *to, float *x, const float *y, const float *w, int n, float eps, int slabs) { \
        SHARED(float, sums, [most_warps]);                                                                                              \
        norm_operand<Operand>(to, x, y, w, n, eps, slabs, sums);                                                                        \
    }                                                                                                                                   \
    EXPORT(add_rms_norm_##suffix)
FOR_EACH_OPERAND(NORM_OPERAND)

// Norms of rows and of groups of numbers. norm.h defines RMSNorm and the order of its sum.
#include "norm.h"

constexpr int most_warps = 32;

// A block has the sums of most_tiles tiles at once; wider groups take several turns.
constexpr int most_tiles = 512;

// group_squares adds the squares of value(0) … value(n−1), and calls value once for each. A block of one warp
// has no tiles: see norm.h. When it returns, all threads see what value wrote. sums is shared memory.
template <class Value> INLINE float group_squares(float *sums, int n, const Value &value) {
    float own = 0;
    if (blockDim.x == warp_size) {
        for (int k = lane_id(); k < n; k += warp_size) {
            const float v = value(k);
            own = fma_rn(v, v, own);
        }
        __syncwarp();
        return warp_sum(own);
    }
    constexpr int most = most_tiles * tile_rows;
    for (int from = 0; from < n; from += most) {
        const int end = n - from < most ? n - from : most, whole = (end + warp_size - 1) / warp_size * warp_size;
        __syncthreads();  // all have read the sums of the turn before
        for (int i = threadIdx.x; i < whole; i += blockDim.x) {
            const float sum = tile_squares(i < end ? value(from + i) : 0.0f);
            if (i % tile_rows == 0 && i < end) sums[i / tile_rows] = sum;
        }
        __syncthreads();
        add_tiles(own, sums, tiles_of(end));
    }
    return warp_sum(own);
}

// norm_group normalises a group; x may be dst.
INLINE void norm_group(float *sums, float *dst, const float *x, const float *w, int n, float eps) {
    const float factor = inverse_root(group_squares(sums, n, [=](int k) { return x[k]; }), n, eps);
    for (int k = threadIdx.x; k < n; k += blockDim.x) dst[k] = x[k] * factor * w[k];
}

// rms_norm normalises group blockIdx.x.
extern "C" __global__ void rms_norm(float *dst, const float *x, const float *w, int n, float eps) {
    SHARED(float, sums, [most_tiles]);
    norm_group(sums, dst + (size_t)blockIdx.x * n, x + (size_t)blockIdx.x * n, w, n, eps);
}
EXPORT(rms_norm)

// norm_groups is rms_norm with a weight for every column of a row, which has `groups` groups.
extern "C" __global__ void norm_groups(float *dst, const float *x, const float *w, int n, int groups, float eps) {
    SHARED(float, sums, [most_tiles]);
    norm_group(sums, dst + (size_t)blockIdx.x * n, x + (size_t)blockIdx.x * n, w + (size_t)(blockIdx.x % groups) * n, n, eps);
}
EXPORT(norm_groups)

// added returns a function of k that adds y[k] to x[k], unless y is null, and returns the sum.
INLINE auto added(float *x, const float *y) {
    return [=](int k) {
        float v = x[k];
        if (y) x[k] = v += y[k];
        return v;
    };
}

// add_rms_norm first adds y, such as the output of attention, to x, the residual stream. Then it does
// rms_norm on x.
extern "C" __global__ void add_rms_norm(float *dst, float *x, const float *y, const float *w, int n, float eps) {
    SHARED(float, sums, [most_tiles]);
    dst += (size_t)blockIdx.x * n;
    x += (size_t)blockIdx.x * n;
    const float factor = inverse_root(group_squares(sums, n, added(x, y + (size_t)blockIdx.x * n)), n, eps);
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
// 2016). The weights are those of group blockIdx.x mod repeats. In both sums, number k belongs to thread k mod
// (threads of the block); a thread adds in ascending k, and block_sum adds the threads. So the number of threads
// must depend on n alone. dst may be x.
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
    const float factor = inverse_root(group_squares(sums, n, added(x, y ? y + (size_t)blockIdx.y * n : nullptr)), n, eps);
    Operand().write(to, blockIdx.y, n, slabs, [=](int k) { return x[k] * factor * w[k]; });
}

// norm_summed writes the norm of row blockIdx.y, whose tiles have these squares, as the operand of a product. Blocks
// of 256 threads, grid (⌈slabs/8⌉, rows). A thread has four columns.
template <class Activations> INLINE void norm_summed(unsigned char *to, const Stream &s, int slabs) {
    const int four = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, k = 4 * four;
    float4 x = {}, w = {};
    if (k < s.columns) {
        x = *(const float4 *)(s.rows + (size_t)row * s.columns + k);
        w = *(const float4 *)(s.norm + k);
    }
    const float factor = factor_of(s.squares + row * tiles_of(s.columns), s.columns, s.eps);
    const float values[4] = {x.x * factor * w.x, x.y * factor * w.y, x.z * factor * w.z, x.w * factor * w.w};
    write_four(Activations{}, to, values, row, four, slabs);
}

#define NORM_OPERAND(suffix, Operand)                                                                                                   \
    extern "C" __global__ void rms_norm_##suffix(unsigned char *to, float *x, const float *w, int n, float eps, int slabs) {            \
        SHARED(float, sums, [most_tiles]);                                                                                              \
        norm_operand<Operand>(to, x, nullptr, w, n, eps, slabs, sums);                                                                  \
    }                                                                                                                                   \
    EXPORT(rms_norm_##suffix)                                                                                                           \
    extern "C" __global__ void add_rms_norm_##suffix(unsigned char *to, float *x, const float *y, const float *w, int n, float eps, int slabs) { \
        SHARED(float, sums, [most_tiles]);                                                                                              \
        norm_operand<Operand>(to, x, y, w, n, eps, slabs, sums);                                                                        \
    }                                                                                                                                   \
    EXPORT(add_rms_norm_##suffix)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(256)                                                                                   \
        norm_summed_##suffix(unsigned char *to, float *x, float *squares, const float *w, int n, float eps, int slabs) {                \
        norm_summed<Operand::Activations>(to, {x, squares, w, n, eps}, slabs);                                                          \
    }                                                                                                                                   \
    EXPORT(norm_summed_##suffix)
FOR_EACH_OPERAND(NORM_OPERAND)

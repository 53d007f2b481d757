// All work on the heads of a row between the products of q, k and v and attention, in one launch:
// bias, norm of q and k, rotation, and storing k and v. The bits are those of add_bias,
// rms_norm_heads, rope and append_* one after another. A decoding step is so short that separate
// launches would take most of it.
#include "attention.h"

constexpr int most_head_dim = 256, warps = 8;

// Shape and tables are the same for every row.
struct Heads {
    const float *cos, *sin;  // (positions, dim/2)
    int heads, kv_heads, head_dim, dim, neox;
    float eps;
};

// normalise is rms_norm_heads on one head; without w it does nothing.
INLINE void normalise(float *head, const float *w, const Heads &h) {
    if (!w) return;
    float squares = 0;
    for (int d = lane_id(); d < h.head_dim; d += warp_size) squares = fma_rn(head[d], head[d], squares);
    float factor = divide_rn(1.0f, sqrt_rn(divide_rn(warp_sum(squares), (float)h.head_dim) + h.eps));
    for (int d = lane_id(); d < h.head_dim; d += warp_size) head[d] = head[d] * factor * w[d];
    __syncwarp();
}

// rotate is rope on one head.
INLINE void rotate(float *head, int position, const Heads &h) {
    int half = h.dim / 2;
    for (int i = lane_id(); i < half; i += warp_size) {
        float cos = h.cos[(size_t)position * half + i], sin = h.sin[(size_t)position * half + i];
        float *first = h.neox ? head + i : head + 2 * i, *second = h.neox ? head + i + half : head + 2 * i + 1;
        float a = *first, b = *second;
        *first = a * cos - b * sin;
        *second = a * sin + b * cos;
    }
    __syncwarp();
}

INLINE void store_key(half_bits *keys, int head, int position, int capacity, int head_dim, const float *from) {
    int padded = padded_dim(head_dim);
    for (int d = lane_id(); d < padded; d += warp_size)
        keys[((size_t)head * capacity + position) * padded + d] = d < head_dim ? to_half(from[d]) : 0;
}
INLINE void store_value(half_bits *values, int head, int position, int capacity, int head_dim, const float *from) {
    for (int d = lane_id(); d < head_dim; d += warp_size) values[((size_t)head * head_dim + d) * capacity + position] = to_half(from[d]);
}
INLINE void store_key(float *keys, int head, int position, int capacity, int head_dim, const float *from) {
    for (int d = lane_id(); d < head_dim; d += warp_size) keys[((size_t)head * capacity + position) * head_dim + d] = from[d];
}
INLINE void store_value(float *values, int head, int position, int capacity, int head_dim, const float *from) {
    store_key(values, head, position, capacity, head_dim, from);
}

// prepare takes one head per warp: first the heads of q, then of k, then of v, of row blockIdx.y.
template <class T>
INLINE void prepare(float *q, const float *k, const float *v, T *keys, T *values, const float *q_bias, const float *k_bias, const float *v_bias,
                    const float *q_norm, const float *k_norm, int position, int capacity, const Heads &h) {
    SHARED(float, rows, [warps * most_head_dim]);
    float *head = rows + warp_id() * most_head_dim;
    int i = blockIdx.x * warps + warp_id(), row = blockIdx.y;
    bool is_query = i < h.heads, is_key = !is_query && i < h.heads + h.kv_heads;
    if (i >= h.heads + 2 * h.kv_heads || position >= capacity) return;
    i -= is_query ? 0 : is_key ? h.heads : h.heads + h.kv_heads;
    const float *from = is_query ? q + ((size_t)row * h.heads + i) * h.head_dim : (is_key ? k : v) + ((size_t)row * h.kv_heads + i) * h.head_dim;
    const float *bias = is_query ? q_bias : is_key ? k_bias : v_bias;
    for (int d = lane_id(); d < h.head_dim; d += warp_size) head[d] = bias ? from[d] + bias[i * h.head_dim + d] : from[d];
    __syncwarp();
    if (is_query || is_key) {
        normalise(head, is_query ? q_norm : k_norm, h);
        rotate(head, position, h);
    }
    if (is_query)
        for (int d = lane_id(); d < h.head_dim; d += warp_size) q[((size_t)row * h.heads + i) * h.head_dim + d] = head[d];
    else if (is_key)
        store_key(keys, i, position, capacity, h.head_dim, head);
    else
        store_value(values, i, position, capacity, h.head_dim, head);
}

// prepare_heads_* prepare rows of q (rows, heads·head_dim) in place, and write those of k and v
// (rows, kv_heads·head_dim) to the cache. Row blockIdx.y is at position *length + ahead +
// blockIdx.y. Biases are (heads·head_dim) and (kv_heads·head_dim), norms (head_dim); any of them
// may be null. Blocks have eight warps; there are enough for heads + 2·kv_heads heads.
#define PREPARE(name, T)                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(warps *warp_size)                                                                        \
        name(float *q, const float *k, const float *v, T *keys, T *values, const float *q_bias, const float *k_bias, const float *v_bias, \
             const float *q_norm, const float *k_norm, const float *cos, const float *sin, const int *length, int ahead, int heads,       \
             int kv_heads, int head_dim, int dim, int neox, int capacity, float eps) {                                                    \
        Heads h = {cos, sin, heads, kv_heads, head_dim, dim, neox, eps};                                                                  \
        prepare<T>(q, k, v, keys, values, q_bias, k_bias, v_bias, q_norm, k_norm, *length + ahead + (int)blockIdx.y, capacity, h);        \
    }                                                                                                                                     \
    EXPORT(name)
PREPARE(prepare_heads_half, half_bits)
PREPARE(prepare_heads_float, float)

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

// A lane has the numbers l, l+32, … of a head, with l its number in the warp: `numbers` of them.

// each_number calls see(i, d) for number d of a head of n numbers, the lane's i-th.
template <int numbers, class See> INLINE void each_number(int n, const See &see) {
    UNROLL for (int i = 0; i < numbers; i++)
        if (lane_id() + warp_size * i < n) see(i, lane_id() + warp_size * i);
}

// norm_factor returns the factor of rms_norm_heads for a head.
template <int numbers> INLINE float norm_factor(const float (&x)[numbers], const Heads &h) {
    float squares = 0;
    each_number<numbers>(h.head_dim, [&](int i, int) { squares = fma_rn(x[i], x[i], squares); });
    return divide_rn(1.0f, sqrt_rn(divide_rn(warp_sum(squares), (float)h.head_dim) + h.eps));
}

// Angles are those of a lane's pairs of numbers at a position.
template <int count> struct Angles {
    float cos[count], sin[count];
    INLINE_MEMBER Angles() : cos{}, sin{} {}
    INLINE_MEMBER Angles(int position, const Heads &h) {
        const size_t row = (size_t)position * (h.dim / 2);
        UNROLL for (int i = 0; i < count; i++) {
            bool exists = lane_id() + warp_size * i < h.dim / 2;
            cos[i] = exists ? h.cos[row + lane_id() + warp_size * i] : 0.0f;
            sin[i] = exists ? h.sin[row + lane_id() + warp_size * i] : 0.0f;
        }
    }
};

// rotate is rope on one head, which is in shared memory.
template <int count> INLINE void rotate(float *head, const Angles<count> &angles, const Heads &h) {
    const int half = h.dim / 2;
    UNROLL for (int i = 0; i < count; i++) {
        const int pair = lane_id() + warp_size * i;
        if (pair >= half) break;
        float *first = h.neox ? head + pair : head + 2 * pair, *second = h.neox ? head + pair + half : head + 2 * pair + 1;
        float a = *first, b = *second;
        *first = a * angles.cos[i] - b * angles.sin[i];
        *second = a * angles.sin[i] + b * angles.cos[i];
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

// prepare takes one head per warp: first the heads of q, then of k, then of v, of row blockIdx.y. It loads
// everything before it computes, because each turn to memory takes as long as all its arithmetic.
template <class T, int numbers>
INLINE void prepare(float *q, const float *k, const float *v, T *keys, T *values, const float *q_bias, const float *k_bias, const float *v_bias,
                    const float *q_norm, const float *k_norm, const int *length, int ahead, int capacity, const Heads &h, float *rows) {
    float *head = rows + warp_id() * most_head_dim;
    int i = blockIdx.x * warps + warp_id(), row = blockIdx.y;
    bool is_query = i < h.heads, is_key = !is_query && i < h.heads + h.kv_heads;
    if (i >= h.heads + 2 * h.kv_heads) return;
    i -= is_query ? 0 : is_key ? h.heads : h.heads + h.kv_heads;
    const float *from = is_query ? q + ((size_t)row * h.heads + i) * h.head_dim : (is_key ? k : v) + ((size_t)row * h.kv_heads + i) * h.head_dim;
    const float *bias = is_query ? q_bias : is_key ? k_bias : v_bias, *norm = is_query ? q_norm : is_key ? k_norm : nullptr;
    const int position = *length + ahead + row;
    float x[numbers], added[numbers], weights[numbers];
    each_number<numbers>(h.head_dim, [&](int n, int d) {
        x[n] = from[d];
        if (bias) added[n] = bias[i * h.head_dim + d];
        if (norm) weights[n] = norm[d];
    });
    if (position >= capacity) return;
    const bool rotated = is_query || is_key;
    using Own = Angles<numbers / 2>;
    const Own angles = rotated ? Own(position, h) : Own();
    if (bias) each_number<numbers>(h.head_dim, [&](int n, int) { x[n] += added[n]; });
    if (norm) {
        const float factor = norm_factor(x, h);
        each_number<numbers>(h.head_dim, [&](int n, int) { x[n] = x[n] * factor * weights[n]; });
    }
    each_number<numbers>(h.head_dim, [&](int n, int d) { head[d] = x[n]; });
    __syncwarp();
    if (rotated) rotate(head, angles, h);
    if (is_query)
        each_number<numbers>(h.head_dim, [&](int, int d) { q[((size_t)row * h.heads + i) * h.head_dim + d] = head[d]; });
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
        SHARED(float, rows, [warps * most_head_dim]);                                                                                     \
        constexpr int most = most_head_dim / warp_size;                                                                                   \
        if (head_dim <= most_head_dim / 2)                                                                                                \
            prepare<T, most / 2>(q, k, v, keys, values, q_bias, k_bias, v_bias, q_norm, k_norm, length, ahead, capacity, h, rows);        \
        else                                                                                                                              \
            prepare<T, most>(q, k, v, keys, values, q_bias, k_bias, v_bias, q_norm, k_norm, length, ahead, capacity, h, rows);            \
    }                                                                                                                                     \
    EXPORT(name)
PREPARE(prepare_heads_half, half_bits)
PREPARE(prepare_heads_float, float)

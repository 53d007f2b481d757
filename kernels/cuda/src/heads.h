// The work on one head between the products of q, k and v, with their biases, and attention: norm of q and k,
// rotation of both, and storing k and v. The bits are those of rms_norm_heads, rope and append_* one after another.
#pragma once
#include "attention.h"

// Heads is what all heads of q and k have in common.
struct Heads {
    const float *q_norm, *k_norm;  // (head_dim); null: no norm
    const float *cos, *sin;        // (positions, dim/2)
    int head_dim, dim, neox;
    float eps;
};

// Lane l of a warp has the numbers l, l+32, … of a head. `numbers` is how many a lane has, at most.

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

// Angles has the cosines and sines for a lane's pairs of numbers at a position.
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

enum class Kind { query, key, value };

// prepare_head loads a head of a row at this position, normalises and rotates it if it is a query or a key,
// and leaves it in `head`, shared memory. It loads everything before it computes, because waiting for memory once
// takes as long as all the arithmetic. Beyond the capacity of the cache, numbers have no meaning.
template <int numbers>
INLINE void prepare_head(float *head, const float *from, Kind kind, int position, int capacity, const Heads &h) {
    const float *norm = kind == Kind::query ? h.q_norm : kind == Kind::key ? h.k_norm : nullptr;
    float x[numbers], weights[numbers];
    each_number<numbers>(h.head_dim, [&](int n, int d) {
        x[n] = from[d];
        if (norm) weights[n] = norm[d];
    });
    const bool rotated = kind != Kind::value && position < capacity;
    using Own = Angles<(numbers + 1) / 2>;
    const Own angles = rotated ? Own(position, h) : Own();
    if (norm) {
        const float factor = norm_factor(x, h);
        each_number<numbers>(h.head_dim, [&](int n, int) { x[n] = x[n] * factor * weights[n]; });
    }
    each_number<numbers>(h.head_dim, [&](int n, int d) { head[d] = x[n]; });
    __syncwarp();
    if (rotated) rotate(head, angles, h);
}

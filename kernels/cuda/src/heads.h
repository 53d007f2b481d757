// The work on one head after the products of q, k and v and their biases, and before attention: norm of q and k,
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

// each_number calls see(i, d) for each number d of a head of n numbers that this lane has; it is the lane's i-th.
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

// turn rotates a pair of numbers.
INLINE void turn(float &first, float &second, float cos, float sin) {
    const float a = first, b = second;
    first = a * cos - b * sin;
    second = a * sin + b * cos;
}

// rotate is rope on one head, which is in shared memory.
template <int count> INLINE void rotate(float *head, const Angles<count> &angles, const Heads &h) {
    int half = h.dim / 2;
    compute_here(half);
    UNROLL for (int i = 0; i < count; i++) {
        const int pair = lane_id() + warp_size * i;
        if (pair >= half) break;
        float *first = h.neox ? head + pair : head + 2 * pair, *second = h.neox ? head + pair + half : head + 2 * pair + 1;
        turn(*first, *second, angles.cos[i], angles.sin[i]);
    }
    __syncwarp();
}

template <int numbers> INLINE void store_key(half_bits *keys, int head, int position, int capacity, int head_dim, const float (&x)[numbers]) {
    const int padded = padded_dim(head_dim);
    half_bits *to = keys + ((size_t)head * capacity + position) * padded;
    each_number<numbers>(padded, [&](int i, int d) { to[d] = d < head_dim ? to_half(x[i]) : 0; });
}
template <int numbers> INLINE void store_value(half_bits *values, int head, int position, int capacity, int head_dim, const float (&x)[numbers]) {
    half_bits *to = values + (size_t)head * head_dim * capacity + position;
    each_number<numbers>(head_dim, [&](int i, int d) { to[(size_t)d * capacity] = to_half(x[i]); });
}
template <int numbers> INLINE void store_key(float *keys, int head, int position, int capacity, int head_dim, const float (&x)[numbers]) {
    float *to = keys + ((size_t)head * capacity + position) * head_dim;
    each_number<numbers>(head_dim, [&](int i, int d) { to[d] = x[i]; });
}
template <int numbers> INLINE void store_value(float *values, int head, int position, int capacity, int head_dim, const float (&x)[numbers]) {
    store_key(values, head, position, capacity, head_dim, x);
}

enum class Kind { query, key, value };

// Head is a lane's numbers of one head, and the weights of its norm.
template <int numbers> struct Head {
    float x[numbers], weights[numbers];
    static INLINE_MEMBER const float *norm_of(Kind kind, const Heads &h) { return kind == Kind::query ? h.q_norm : kind == Kind::key ? h.k_norm : nullptr; }
    INLINE_MEMBER void load(const float *from, Kind kind, const Heads &h) {
        const float *norm = norm_of(kind, h);
        each_number<numbers>(h.head_dim, [&](int i, int d) {
            x[i] = from[d];
            read_now(x[i]);
            if (norm) weights[i] = norm[d];
        });
    }
    // prepare normalises and rotates the head of a row at this position if it is a query or a key. It loads the
    // angles before it computes, because waiting for memory takes as long as all the arithmetic. room is shared
    // memory for the head. Beyond the capacity of the cache, numbers have no meaning.
    INLINE_MEMBER void prepare(float *room, Kind kind, int position, int capacity, const Heads &h) {
        const bool rotated = kind != Kind::value && position < capacity;
        using Own = Angles<(numbers + 1) / 2>;
        const Own angles = rotated ? Own(position, h) : Own();
        if (norm_of(kind, h)) {
            const float factor = norm_factor(x, h);
            each_number<numbers>(h.head_dim, [&](int i, int) { x[i] = x[i] * factor * weights[i]; });
        }
        if (!rotated) return;
        if (numbers % 2 == 0 && h.neox && h.dim == numbers * warp_size) {  // a lane has both numbers of each of its pairs
            UNROLL for (int i = 0; i < numbers / 2; i++) turn(x[i], x[i + numbers / 2], angles.cos[i], angles.sin[i]);
            return;
        }
        each_number<numbers>(h.head_dim, [&](int i, int d) { room[d] = x[i]; });
        __syncwarp();
        rotate(room, angles, h);
        each_number<numbers>(h.head_dim, [&](int i, int d) { x[i] = room[d]; });
    }
};

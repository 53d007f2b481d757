// All work on the heads of a row between the products of q, k and v, with their biases, and attention, in one
// launch. A decoding step is so short that separate launches would take most of it. (For one row with few
// queries to a key head, attention over a cache of half precision does this itself: see attend_half.cu.)
#include "heads.h"

constexpr int most_head_dim = 256, warps = 8;

// prepare loads, prepares and stores heads, one per warp: first the heads of q, then of k, then of
// v, of row blockIdx.y.
template <class T, int numbers>
INLINE void prepare(float *q, const float *k, const float *v, T *keys, T *values, const int *length, int ahead, int heads, int kv_heads, int capacity,
                    const Heads &h, float *rows) {
    int i = blockIdx.x * warps + warp_id(), row = blockIdx.y;
    if (i >= heads + 2 * kv_heads) return;
    const Kind kind = i < heads ? Kind::query : i < heads + kv_heads ? Kind::key : Kind::value;
    i -= kind == Kind::query ? 0 : kind == Kind::key ? heads : heads + kv_heads;
    float *own = q + ((size_t)row * heads + i) * h.head_dim;
    const float *from = kind == Kind::query ? own : (kind == Kind::key ? k : v) + ((size_t)row * kv_heads + i) * h.head_dim;
    const int position = *length + ahead + row;
    Head<numbers> head;
    head.load(from, kind, h);
    head.prepare(rows + warp_id() * most_head_dim, kind, position, capacity, h);
    if (position >= capacity) return;
    if (kind == Kind::query) each_number<numbers>(h.head_dim, [&](int n, int d) { own[d] = head.x[n]; });
    else if (kind == Kind::key) store_key(keys, i, position, capacity, h.head_dim, head.x);
    else store_value(values, i, position, capacity, h.head_dim, head.x);
}

// prepare_heads_* normalise and rotate rows of q (rows, heads·head_dim) in place, and rows of k (rows,
// kv_heads·head_dim) on their way to the cache; v goes there as it is. Row blockIdx.y is at position *length +
// ahead + blockIdx.y. Norms may be null. Blocks have eight warps; there are enough for heads + 2·kv_heads heads.
#define PREPARE(name, T)                                                                                                               \
    extern "C" __global__ void __launch_bounds__(warps *warp_size)                                                                     \
        name(float *q, const float *k, const float *v, T *keys, T *values, const float *q_norm, const float *k_norm, const float *cos, \
             const float *sin, const int *length, int ahead, int heads, int kv_heads, int head_dim, int dim, int neox, int capacity,   \
             float eps) {                                                                                                              \
        const Heads h = {q_norm, k_norm, cos, sin, head_dim, dim, neox, eps};                                                          \
        SHARED(float, rows, [warps * most_head_dim]);                                                                                  \
        constexpr int most = most_head_dim / warp_size;                                                                                \
        if (head_dim <= most_head_dim / 2)                                                                                             \
            prepare<T, most / 2>(q, k, v, keys, values, length, ahead, heads, kv_heads, capacity, h, rows);                            \
        else                                                                                                                           \
            prepare<T, most>(q, k, v, keys, values, length, ahead, heads, kv_heads, capacity, h, rows);                                \
    }                                                                                                                                  \
    EXPORT(name)
PREPARE(prepare_heads_half, half_bits)
PREPARE(prepare_heads_float, float)

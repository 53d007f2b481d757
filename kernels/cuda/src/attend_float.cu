// Attention over one split of a float32 cache, with fused steps in ascending order. A float32 cache is
// for precision, not speed: reading it limits the speed, and it is twice as large as in half precision.
//
// A block has one key head, one split and eight columns. Scores take one thread per key, weights
// one warp per column, and weighted values one thread per number of the head.
#include "attention.h"

constexpr int threads = keys_per_split, columns = threads / warp_size;
constexpr int most_key_dim = 576;

// score_one gives this thread's key the capped scale·q·k for every column. query is (columns, key_dim).
INLINE void score_one(float (*score)[keys_per_split], const float *query, const float *key, int key_dim, float scale, float cap) {
    float sum[columns] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int d = 0; d < key_dim; d++) {
        float k = key[d];
        UNROLL for (int c = 0; c < columns; c++) sum[c] = fma_rn(k, query[c * key_dim + d], sum[c]);
    }
    UNROLL for (int c = 0; c < columns; c++) score[c][threadIdx.x] = capped(sum[c] * scale, cap);
}

// weigh_column turns the scores of the keys that a column sees into weights; other keys get 0. If there are
// such keys, it writes their largest score and the sum of the weights to `to`.
INLINE void weigh_column(float *score, int hidden, int visible, Partial to) {
    float largest = -infinity(), sum = 0;
    for (int key = lane_id(); key < visible; key += warp_size)
        if (key >= hidden) largest = score[key] > largest ? score[key] : largest;
    largest = warp_max(largest);
    for (int key = lane_id(); key < keys_per_split; key += warp_size) {
        float p = key >= hidden && key < visible ? exp_rn(score[key] - largest) : 0;
        score[key] = p;
        sum += p;
    }
    sum = warp_sum(sum);
    if (lane_id() == 0 && visible > hidden) {
        *to.largest = largest;
        *to.sum = sum;
    }
}

// attend_float is attend_half_* for a float32 cache with eight columns per block. key_dim is at most
// most_key_dim; value_dim may be another number.
extern "C" __global__ void __launch_bounds__(threads)
    attend_float(float *partial, float *stats, const float *q, const float *keys, const float *values, const int *length, int ahead, int rows,
                 int kv_heads, int sharing, unsigned inverse, int key_dim, int value_dim, int capacity, float scale, int window, float cap) {
    SHARED(float, score, [columns][keys_per_split]);
    SHARED(float, query, [columns * most_key_dim]);
    Columns s = columns_of(columns, length, ahead, rows, {kv_heads, sharing, inverse}, window);
    const int heads = s.heads;
    if (s.keys <= 0) return;
    const size_t first = (size_t)s.kv_head * capacity + s.start;
    keys += first * key_dim;
    values += first * value_dim;
    for (int i = threadIdx.x; i < columns * key_dim; i += threads) {
        Query at = s.query(i / key_dim);
        query[i] = s.exists(i / key_dim) ? q[((size_t)at.row * heads + at.head) * key_dim + i % key_dim] : 0;
    }
    __syncthreads();
    if ((int)threadIdx.x < s.keys) score_one(score, query, keys + (size_t)threadIdx.x * key_dim, key_dim, scale, cap);
    __syncthreads();
    weigh_column(score[warp_id()], s.hidden(warp_id()), s.visible(warp_id()), partial_of(partial, stats, s.query(warp_id()), heads, gridDim.x, blockIdx.x, value_dim));
    __syncthreads();
    for (int d = threadIdx.x; d < value_dim; d += threads) {
        float sum[columns] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int key = 0; key < s.keys; key++) {
            float v = values[(size_t)key * value_dim + d];
            UNROLL for (int c = 0; c < columns; c++)
                if (key < s.visible(c)) sum[c] = fma_rn(score[c][key], v, sum[c]);
        }
        UNROLL for (int c = 0; c < columns; c++)
            if (s.sees(c)) partial_of(partial, stats, s.query(c), heads, gridDim.x, blockIdx.x, value_dim).values[d] = sum[c];
    }
}
EXPORT(attend_float)

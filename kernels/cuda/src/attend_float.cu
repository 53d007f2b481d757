// Attention over one split of a float32 cache, with fused steps in ascending order. A float32 cache is
// for precision, not speed: reading it limits the speed, and it is twice as large as in half precision.
//
// A block has one key head, one split and eight columns. Scores take one thread per key, weights
// one warp per column, and weighted values one thread per number of the head.
#include "attention.h"

constexpr int threads = keys_per_split, columns = threads / warp_size;
constexpr int most_head_dim = 256;

// score_one gives this thread's key the capped scale·q·k for every column. query is (columns,
// head_dim).
INLINE void score_one(float (*score)[keys_per_split], const float *query, const float *key, int head_dim, float scale, float cap) {
    float sum[columns] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int d = 0; d < head_dim; d++) {
        float k = key[d];
        UNROLL for (int c = 0; c < columns; c++) sum[c] = fma_rn(k, query[c * head_dim + d], sum[c]);
    }
    UNROLL for (int c = 0; c < columns; c++) score[c][threadIdx.x] = capped(sum[c] * scale, cap);
}

// weigh_column turns the scores of the keys that a column sees into weights; other keys get 0.
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

// attend_float is attend_half_* for a float32 cache and head_dim up to 256, with eight columns per
// block.
extern "C" __global__ void __launch_bounds__(threads)
    attend_float(float *partial, float *stats, const float *q, const float *keys, const float *values, const int *length, int ahead, int rows,
                 int heads, int kv_heads, int head_dim, int capacity, float scale, int window, float cap) {
    SHARED(float, score, [columns][keys_per_split]);
    SHARED(float, query, [columns * most_head_dim]);
    Columns s = columns_of(columns, length, ahead, rows, heads, kv_heads, window);
    if (s.keys <= 0) return;
    size_t offset = ((size_t)s.kv_head * capacity + s.start) * head_dim;
    keys += offset;
    values += offset;
    for (int i = threadIdx.x; i < columns * head_dim; i += threads) {
        Query at = s.query(i / head_dim);
        query[i] = s.exists(i / head_dim) ? q[((size_t)at.row * heads + at.head) * head_dim + i % head_dim] : 0;
    }
    __syncthreads();
    if ((int)threadIdx.x < s.keys) score_one(score, query, keys + (size_t)threadIdx.x * head_dim, head_dim, scale, cap);
    __syncthreads();
    weigh_column(score[warp_id()], s.hidden(warp_id()), s.visible(warp_id()), partial_of(partial, stats, s.query(warp_id()), heads, gridDim.x, blockIdx.x, head_dim));
    __syncthreads();
    for (int d = threadIdx.x; d < head_dim; d += threads) {
        float sum[columns] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int key = 0; key < s.keys; key++) {
            float v = values[(size_t)key * head_dim + d];
            UNROLL for (int c = 0; c < columns; c++)
                if (key < s.visible(c)) sum[c] = fma_rn(score[c][key], v, sum[c]);
        }
        UNROLL for (int c = 0; c < columns; c++)
            if (s.sees(c)) partial_of(partial, stats, s.query(c), heads, gridDim.x, blockIdx.x, head_dim).values[d] = sum[c];
    }
}
EXPORT(attend_float)

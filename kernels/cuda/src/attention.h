// Shared by the kernels of the KV cache and of attention.
//
// Keys are divided into splits of 256 at fixed absolute positions. For every query, a split gives its
// largest score, Σ p with p = exp(score − largest), and Σ p·value. combine_splits adds the splits in
// ascending order. So the bits of a row depend on its own length alone, not on the number of rows
// computed together or on the grid.
//
// A query is one head of one row. Queries that read the same key head are neighbours: column c of key
// head h is row c / sharing, head h·sharing + c mod sharing, with sharing = heads / kv_heads
// (grouped-query attention).
//
// A window, unless it is 0, is the number of keys that a query sees, its own included. It does not move
// the splits: a query skips splits before its window, and in its first split gives keys before the
// window the weight 0. A cap, unless it is 0, bounds the scores: s becomes cap·tanh(s/cap).
//
// Graphs: *length, in device memory, is the number of tokens in the cache before a pass. Row 0 of a
// launch is at position *length + ahead. Nothing else depends on the length. A grid may have splits
// after the end of the text; their blocks compute nothing. So a captured graph stays valid while the text
// grows, and truncating a cache means writing one number.
#pragma once
#include "gpu.h"

constexpr int keys_per_split = 256;

// padded_dim is the length of a key in a cache of half precision: whole chunks of 32 numbers, with
// zeros at the end.
constexpr int padded_dim(int head_dim) { return (head_dim + 31) / 32 * 32; }

// Query says which row and head a column stands for, and up to which key it may see.
struct Query {
    int row, head;
    int seen;  // it sees the keys 0 … seen−1, of which a window hides the first
};

// Partial is a split's result for one query: values is (head_dim).
struct Partial {
    float *values, *largest, *sum;
};

// partial_of finds a Partial in values (rows·heads, splits, head_dim) and stats (rows·heads,
// splits, 2). There are fewer than 2³² of them.
INLINE Partial partial_of(float *values, float *stats, Query q, int heads, int splits, int split, int head_dim) {
    const size_t i = (unsigned)(q.row * heads + q.head) * (unsigned)splits + (unsigned)split;
    return {values + i * (unsigned)head_dim, stats + 2 * i, stats + 2 * i + 1};
}

// Sharing says how query heads share key heads. The host computes it, because divisions are slow.
struct Sharing {
    int kv_heads, heads;  // the number of key heads; of query heads that read one of them
    unsigned inverse;     // 2³¹ / heads, rounded up: divides by heads with one multiplication
};

// Columns is the work of a block of attend: some columns of a key head, and one split.
struct Columns {
    int kv_head, sharing, heads;
    int first, end;      // the block's first column; the number of columns of the launch
    int first_position;  // of row 0
    int start;           // position of the split's first key
    int keys;            // the keys of the split up to the last column's own; 0 or less: no column sees any
    int window;
    unsigned inverse;  // of Sharing
    // query is exact for columns with numbers below 2³¹ / sharing.
    INLINE_MEMBER Query query(int column) const {
        const int all = first + column, row = (int)((u64)(2 * (unsigned)all) * inverse >> 32);
        return {row, kv_head * sharing + all - row * sharing, first_position + row + 1};
    }
    INLINE_MEMBER bool exists(int column) const { return first + column < end; }
    // nearest returns a column, or the last one that exists if this one does not.
    INLINE_MEMBER int nearest(int column) const { return exists(column) ? column : end - 1 - first; }
    // tile_exists reports whether any of the eight columns of a tile exists.
    INLINE_MEMBER bool tile_exists(int tile) const { return exists(8 * tile); }
    // visible returns how many keys of the split are up to a column's own position, those before its window included.
    INLINE_MEMBER int visible(int column) const {
        int n = exists(column) ? query(column).seen - start : 0;
        return n < 0 ? 0 : n > keys_per_split ? keys_per_split : n;
    }
    // hidden returns how many keys from start on lie before a column's window. They can be more than the split has.
    INLINE_MEMBER int hidden(int column) const {
        int n = window ? query(column).seen - window - start : 0;
        return n < 0 ? 0 : n;
    }
    INLINE_MEMBER bool sees(int column) const { return visible(column) > hidden(column); }
};

INLINE Columns columns_of(int columns, const int *length, int ahead, int rows, const Sharing &by, int window) {
    Columns s;
    s.window = window;
    s.kv_head = blockIdx.y;
    s.heads = by.kv_heads * by.heads;
    s.sharing = by.heads;
    s.inverse = by.inverse;
    s.first = blockIdx.z * columns;
    s.end = rows * s.sharing;
    s.first_position = *length + ahead;
    s.start = blockIdx.x * keys_per_split;
    int last = s.first + columns < s.end ? s.first + columns : s.end;
    int keys = s.query(last - 1 - s.first).seen - s.start;
    s.keys = keys < keys_per_split ? keys : keys_per_split;
    if (s.hidden(0) >= keys_per_split) s.keys = 0;  // the first column sees furthest back
    return s;
}

// largest_of returns the largest number of a lane's group. Groups have `lanes` neighbouring lanes, from lane 0 on.
template <int lanes> INLINE float largest_of(float v) {
    UNROLL for (int o = 1; o < lanes; o *= 2) v = larger(v, __shfl_xor_sync(full_warp, v, o));
    return v;
}

// capped bounds a score, unless cap is 0.
INLINE float capped(float score, float cap) { return cap ? cap * tanh_rn(divide_rn(score, cap)) : score; }

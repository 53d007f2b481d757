// Adds the splits of each query of attention, in ascending order. The sums become a row of float32 or the
// operand of a product.
#pragma once
#include "attention.h"
#include "operand.h"

// Splits are the partial results of a row. sinks, unless it is null, has for each head the score of one more
// key, before all others, whose value is 0.
struct Splits {
    float *partial, *stats;
    int row, seen;  // the row, and the number of keys up to its own
    int heads, head_dim, splits, window;
    const float *sinks;
    // first returns the first split that a row needs whose own key is the last of `keys`. Splits before its window
    // have no result.
    INLINE_MEMBER int first(int keys) const { return window && keys > window ? (keys - window) / keys_per_split : 0; }
    // end returns one more than the last split that the row needs.
    INLINE_MEMBER int end() const { return (seen + keys_per_split - 1) / keys_per_split; }
};

// Loaded are the results of neighbouring splits for the numbers d … d+count−1 of a query.
template <int count> struct Loaded {
    static constexpr int at_once = 8;
    float largest[at_once], sum[at_once], values[at_once][count];
    INLINE_MEMBER void load(const Splits &s, Query q, int d, int from, int own) {
        UNROLL for (int i = 0; i < at_once; i++) {
            if (from + i >= own) return;
            const Partial p = partial_of(s.partial, s.stats, q, s.heads, s.splits, from + i, s.head_dim);
            largest[i] = *p.largest;
            sum[i] = *p.sum;
            UNROLL for (int j = 0; j < count; j++) values[i][j] = p.values[d + j];
        }
    }
};

// combine sets `values` to the numbers d … d+count−1 of a head's result: Σ values·f / Σ sum·f with
// f = exp(largest − the largest of all splits), so that nothing overflows. A row with more splits than the launch
// of attend had becomes NaN. Several splits are loaded at once, because one after the other would take longer than
// all the arithmetic.
template <int count> INLINE void combine(float (&values)[count], const Splits &s, int head, int d) {
    const Query q = {s.row, head, s.seen};
    const int first = s.first(s.seen), own = s.end();
    UNROLL for (int j = 0; j < count; j++) values[j] = own > s.splits ? bits_float(0x7fc00000u) : 0.0f;
    if (own > s.splits) return;
    Loaded<count> splits;
    splits.load(s, q, d, first, own);
    float largest = s.sinks ? s.sinks[head] : -infinity();
    for (int from = first; from < own; from += splits.at_once) {
        float v[splits.at_once];
        UNROLL for (int i = 0; i < splits.at_once; i++)
            v[i] = from + i < own ? *partial_of(s.partial, s.stats, q, s.heads, s.splits, from + i, s.head_dim).largest : largest;
        UNROLL for (int i = 0; i < splits.at_once; i++) largest = v[i] > largest ? v[i] : largest;
    }
    float sum = s.sinks ? exp_rn(s.sinks[head] - largest) : 0.0f;
    for (int from = first; from < own; from += splits.at_once) {
        if (from > first) splits.load(s, q, d, from, own);
        UNROLL for (int i = 0; i < splits.at_once; i++) {
            if (from + i >= own) break;
            float f = exp_rn(splits.largest[i] - largest);
            sum = fma_rn(splits.sum[i], f, sum);
            UNROLL for (int j = 0; j < count; j++) values[j] = fma_rn(splits.values[i][j], f, values[j]);
        }
    }
    UNROLL for (int j = 0; j < count; j++) values[j] = divide_rn(values[j], sum);
}

// combine_four is combine for four numbers a thread, called by whole warps. Eight neighbouring threads have one
// query, and each computes the factor of every eighth split for all eight. No row of the launch needs more than
// `most` splits. If exists is false, the numbers become 0.
INLINE void combine_four(float (&values)[4], const Splits &s, int head, int d, int most, bool exists) {
    constexpr int at_once = 8;
    const int lane = lane_id() % at_once, first = s.first(s.seen), own = s.end();
    const int count = exists && own <= s.splits ? own - first : 0;
    const Partial p = partial_of(s.partial, s.stats, {s.row, head, s.seen}, s.heads, s.splits, first, s.head_dim);
    const float4 *from = (const float4 *)(p.values + d);
    const float2 *stats = (const float2 *)p.largest;
    float2 own_stats = {-infinity(), 0};  // largest and sum
    float4 loaded[at_once];
    const auto load = [&](int n) {
        if (n + lane < count) own_stats = stats[n + lane];
        UNROLL for (int i = 0; i < at_once; i++)
            if (n + i < count) loaded[i] = from[(size_t)(unsigned)(n + i) * (unsigned)(s.head_dim / 4)];
    };
    load(0);
    const float sink = exists && s.sinks ? s.sinks[head] : -infinity();
    float largest = own_stats.x;
    for (int n = at_once + lane; n < count; n += at_once) largest = larger(largest, stats[n].x);
    largest = largest_of<at_once>(largest);
    largest = largest > sink ? largest : sink;  // NaN if the sink is
    float sum = s.sinks ? exp_falling(sink - largest) : 0.0f;
    UNROLL for (int j = 0; j < 4; j++) values[j] = 0;
    for (int n = 0; n < most; n += at_once) {
        if (n > 0) load(n);
        const float f = exp_falling(own_stats.x - largest);
        UNROLL for (int i = 0; i < at_once; i++) {
            if (n + i >= most) break;
            const float factor = __shfl_sync(full_warp, f, lane_id() - lane + i), part = __shfl_sync(full_warp, own_stats.y, lane_id() - lane + i);
            if (n + i >= count) continue;
            sum = fma_rn(part, factor, sum);
            values[0] = fma_rn(loaded[i].x, factor, values[0]);
            values[1] = fma_rn(loaded[i].y, factor, values[1]);
            values[2] = fma_rn(loaded[i].z, factor, values[2]);
            values[3] = fma_rn(loaded[i].w, factor, values[3]);
        }
    }
    UNROLL for (int j = 0; j < 4; j++) {
        const float result = divide_rn(values[j], sum);
        values[j] = !exists ? 0.0f : own > s.splits ? bits_float(0x7fc00000u) : result;
    }
}

// take combines neighbouring columns of a row. They are of one head if they begin at a multiple of their
// count, which divides head_dim.
template <int count> INLINE void take(float (&values)[count], const Splits &s, int k, int n) {
    if (s.head_dim % count == 0 && k + count <= n) {
        combine(values, s, k / s.head_dim, k % s.head_dim);
        return;
    }
    UNROLL for (int i = 0; i < count; i++) {
        float one[1] = {0};
        if (k + i < n) combine(one, s, (k + i) / s.head_dim, (k + i) % s.head_dim);
        values[i] = one[0];
    }
}

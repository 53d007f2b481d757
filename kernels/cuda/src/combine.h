// Adds the splits of each query of attention, in ascending order. The sums become a row of float32 or the
// operand of a product.
#pragma once
#include "attention.h"
#include "operand.h"

// Splits are the partial results of a row. sinks, unless it is null, has for each head the score of one more
// key, before all others, whose value is 0.
struct Splits {
    float *partial, *stats;
    int row, seen;  // the row, and how many keys it sees
    int heads, head_dim, splits, window;
    const float *sinks;
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
// f = exp(largest − the largest of all splits), so that nothing overflows. Splits before the window have no
// result. A row with more splits than the launch of attend had becomes NaN. Several splits are loaded at
// once, because one after the other would take longer than all the arithmetic.
template <int count> INLINE void combine(float (&values)[count], const Splits &s, int head, int d) {
    const Query q = {s.row, head, s.seen};
    const int first = s.window && s.seen > s.window ? (s.seen - s.window) / keys_per_split : 0;
    const int own = (s.seen + keys_per_split - 1) / keys_per_split;
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

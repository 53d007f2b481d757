// The last step of attention: the splits of each query, added in ascending order.
#include "attention.h"
#include "operand.h"

// combined returns number d of a query's result: Σ values·f / Σ sum·f with f = exp(largest − the
// largest of all splits), so that nothing overflows. Splits before the query's window have no
// result. A row with more splits than the launch of attend had becomes NaN. sinks, unless it is null, has for
// each head the score of one more key, before all others, whose value is 0.
INLINE float combined(float *partial, float *stats, Query q, int d, int heads, int head_dim, int splits, int window, const float *sinks) {
    int first = window && q.seen > window ? (q.seen - window) / keys_per_split : 0;
    int own = (q.seen + keys_per_split - 1) / keys_per_split;
    if (own > splits) return bits_float(0x7fc00000u);
    float largest = sinks ? sinks[q.head] : -infinity();
    for (int i = first; i < own; i++) {
        float v = *partial_of(partial, stats, q, heads, splits, i, head_dim).largest;
        largest = v > largest ? v : largest;
    }
    float value = 0, sum = sinks ? exp_rn(sinks[q.head] - largest) : 0.0f;
    for (int i = first; i < own; i++) {
        Partial p = partial_of(partial, stats, q, heads, splits, i, head_dim);
        float f = exp_rn(*p.largest - largest);
        sum = fma_rn(*p.sum, f, sum);
        value = fma_rn(p.values[d], f, value);
    }
    return divide_rn(value, sum);
}

// combine_splits writes head blockIdx.x of row blockIdx.y to dst (rows, heads·head_dim).
extern "C" __global__ void combine_splits(float *dst, float *partial, float *stats, const int *length, int ahead, int heads, int head_dim,
                                          int splits, int window, const float *sinks) {
    Query q = {(int)blockIdx.y, (int)blockIdx.x, *length + ahead + (int)blockIdx.y + 1};
    for (int d = threadIdx.x; d < head_dim; d += blockDim.x)
        dst[((size_t)q.row * heads + q.head) * head_dim + d] = combined(partial, stats, q, d, heads, head_dim, splits, window, sinks);
}
EXPORT(combine_splits)

// combine_splits_* write row blockIdx.y, all heads, as the operand of a product.
#define COMBINE_OPERAND(suffix, Operand)                                                                                                \
    extern "C" __global__ void combine_splits_##suffix(unsigned char *to, float *partial, float *stats, const int *length, int ahead,   \
                                                       int heads, int head_dim, int splits, int window, const float *sinks, int slabs) {\
        int row = blockIdx.y, seen = *length + ahead + row + 1;                                                                         \
        Operand().write(to, row, heads * head_dim, slabs, [=](int k) {                                                                  \
            return combined(partial, stats, {row, k / head_dim, seen}, k % head_dim, heads, head_dim, splits, window, sinks);           \
        });                                                                                                                             \
    }                                                                                                                                   \
    EXPORT(combine_splits_##suffix)
FOR_EACH_OPERAND(COMBINE_OPERAND)

// The last step of attention: the splits of each query, added in ascending order.
#include "attention.h"

// combine_splits writes head blockIdx.x of row blockIdx.y to dst (rows, heads·head_dim): Σ values·f / Σ sum·f with f = exp(largest −
// the largest of all splits), so that nothing overflows. A row whose splits are more than the launch of attend had becomes NaN.
extern "C" __global__ void combine_splits(float *dst, float *partial, float *stats, const int *length, int ahead, int heads, int head_dim,
                                          int splits) {
    Query q = {(int)blockIdx.y, (int)blockIdx.x, *length + ahead + (int)blockIdx.y + 1};
    int own = (q.seen + keys_per_split - 1) / keys_per_split;
    float largest = -infinity();
    for (int i = 0; i < own && i < splits; i++) {
        float v = *partial_of(partial, stats, q, heads, splits, i, head_dim).largest;
        largest = v > largest ? v : largest;
    }
    for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
        float value = 0, sum = 0;
        for (int i = 0; i < own && i < splits; i++) {
            Partial p = partial_of(partial, stats, q, heads, splits, i, head_dim);
            float f = exp_rn(*p.largest - largest);
            sum = fma_rn(*p.sum, f, sum);
            value = fma_rn(p.values[d], f, value);
        }
        dst[((size_t)q.row * heads + q.head) * head_dim + d] = own > splits ? bits_float(0x7fc00000u) : divide_rn(value, sum);
    }
}
EXPORT(combine_splits)

// The last step of attention: the splits of each query, added in ascending order.
#include "combine.h"

// combine_splits writes head blockIdx.x of row blockIdx.y to dst (rows, heads·head_dim).
extern "C" __global__ void combine_splits(float *dst, float *partial, float *stats, const int *length, int ahead, int heads, int head_dim,
                                          int splits, int window, const float *sinks) {
    const int row = blockIdx.y, head = blockIdx.x;
    const Splits s = {partial, stats, row, *length + ahead + row + 1, heads, head_dim, splits, window, sinks};
    for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
        float one[1];
        combine(one, s, head, d);
        dst[((size_t)row * heads + head) * head_dim + d] = one[0];
    }
}
EXPORT(combine_splits)

// combine_splits_* write row blockIdx.y, all heads, as the operand of a product.
#define COMBINE_OPERAND(suffix, Operand)                                                                                                \
    extern "C" __global__ void combine_splits_##suffix(unsigned char *to, float *partial, float *stats, const int *length, int ahead,   \
                                                       int heads, int head_dim, int splits, int window, const float *sinks, int slabs) {\
        const int row = blockIdx.y;                                                                                                     \
        const Splits s = {partial, stats, row, *length + ahead + row + 1, heads, head_dim, splits, window, sinks};                      \
        Operand().write(to, row, heads * head_dim, slabs, s);                                                                           \
    }                                                                                                                                   \
    EXPORT(combine_splits_##suffix)
FOR_EACH_OPERAND(COMBINE_OPERAND)

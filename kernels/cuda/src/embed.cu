// Embedding: rows of a table by token ids, for tables in the layout of a file. Kernels for tables
// in the order of tensor cores are in the files with the products of their format.
#include "gpu.h"

// ids are in device memory, because a draft token never leaves it. An id outside the table gives a
// row of NaN: the host checks the ids that it knows, and a fault on the device must not look like a
// token.
template <class T, float widen(T)> INLINE void embed(float *dst, const T *table, const int *ids, int rows, int cols) {
    int id = ids[blockIdx.y];
    bool known = id >= 0 && id < rows;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x)
        dst[(size_t)blockIdx.y * cols + k] = known ? widen(table[(size_t)id * cols + k]) : bits_float(0x7fc00000u);
}

INLINE float same(float v) { return v; }

// embed_plain_* write row ids[i] of table (rows, cols), as float32, to row i = blockIdx.y of dst.
#define EMBED(name, T, widen)                                                                                         \
    extern "C" __global__ void name(float *dst, const T *table, const int *ids, int rows, int cols) {                 \
        embed<T, widen>(dst, table, ids, rows, cols);                                                                 \
    }                                                                                                                 \
    EXPORT(name)
EMBED(embed_plain_float, float, same)
EMBED(embed_plain_half, half_bits, from_half)
EMBED(embed_plain_bfloat16, bfloat16_bits, from_bfloat16)

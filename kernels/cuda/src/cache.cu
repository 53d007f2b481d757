// The KV cache of one layer of one sequence.
//
//   half    keys (kv_heads, capacity, padded_dim), values (kv_heads, head_dim, capacity): values are in the
//           order of tensor cores: 16 bytes have one number of the values of eight neighbouring tokens.
//           capacity is a multiple of keys_per_split.
//   float   keys and values (kv_heads, capacity, head_dim).
//
// Rows from the length on are garbage, which later passes overwrite.
#include "attention.h"

// append_half stores row blockIdx.y of k and v (rows, kv_heads·head_dim) at position *length +
// ahead + blockIdx.y.
extern "C" __global__ void append_half(half_bits *keys, half_bits *values, const float *k, const float *v, const int *length, int ahead,
                                       int kv_heads, int head_dim, int capacity) {
    int row = blockIdx.y, position = *length + ahead + row, padded = padded_dim(head_dim);
    if (position >= capacity) return;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kv_heads * padded; i += gridDim.x * blockDim.x) {
        int head = i / padded, d = i % padded;
        size_t from = ((size_t)row * kv_heads + head) * head_dim + d;
        keys[((size_t)head * capacity + position) * padded + d] = d < head_dim ? to_half(k[from]) : 0;
        if (d < head_dim) values[((size_t)head * head_dim + d) * capacity + position] = to_half(v[from]);
    }
}
EXPORT(append_half)

extern "C" __global__ void append_float(float *keys, float *values, const float *k, const float *v, const int *length, int ahead,
                                        int kv_heads, int head_dim, int capacity) {
    int row = blockIdx.y, position = *length + ahead + row;
    if (position >= capacity) return;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kv_heads * head_dim; i += gridDim.x * blockDim.x) {
        size_t from = (size_t)row * kv_heads * head_dim + i, to = ((size_t)(i / head_dim) * capacity + position) * head_dim + i % head_dim;
        keys[to] = k[from];
        values[to] = v[from];
    }
}
EXPORT(append_float)

// read_half writes the key and the value of one position as float32 rows of kv_heads·head_dim numbers.
extern "C" __global__ void read_half(float *k, float *v, const half_bits *keys, const half_bits *values, int position, int kv_heads,
                                     int head_dim, int capacity) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kv_heads * head_dim; i += gridDim.x * blockDim.x) {
        int head = i / head_dim, d = i % head_dim;
        k[i] = from_half(keys[((size_t)head * capacity + position) * padded_dim(head_dim) + d]);
        v[i] = from_half(values[(size_t)i * capacity + position]);
    }
}
EXPORT(read_half)

extern "C" __global__ void read_float(float *k, float *v, const float *keys, const float *values, int position, int kv_heads, int head_dim,
                                      int capacity) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kv_heads * head_dim; i += gridDim.x * blockDim.x) {
        size_t from = ((size_t)(i / head_dim) * capacity + position) * head_dim + i % head_dim;
        k[i] = keys[from];
        v[i] = values[from];
    }
}
EXPORT(read_float)

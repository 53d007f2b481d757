// The KV cache of one layer of one sequence.
//
//   half    keys (kv_heads, capacity, padded_dim), values (kv_heads, value_dim, capacity): values are in the
//           order of tensor cores: 16 bytes have one number of the values of eight neighbouring tokens.
//           capacity is a multiple of keys_per_split.
//   float   keys (kv_heads, capacity, key_dim), values (kv_heads, capacity, value_dim).
//
// A value may have another length than a key.
//
// Rows from the length on are garbage, which later passes overwrite.
#include "attention.h"

// each_of_heads calls see(head, d) for number d of every key head, with heads of n numbers. The threads of the
// blocks in a row of the grid share the work.
template <class See> INLINE void each_of_heads(int kv_heads, int n, const See &see) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kv_heads * n; i += gridDim.x * blockDim.x) see(i / n, i % n);
}

// append_half stores row blockIdx.y of k (rows, kv_heads·key_dim) and v (rows, kv_heads·value_dim) at position
// *length + ahead + blockIdx.y.
extern "C" __global__ void append_half(half_bits *keys, half_bits *values, const float *k, const float *v, const int *length, int ahead,
                                       int kv_heads, int key_dim, int value_dim, int capacity) {
    const int position = *length + ahead + blockIdx.y, padded = padded_dim(key_dim);
    if (position >= capacity) return;
    k += (size_t)blockIdx.y * kv_heads * key_dim;
    v += (size_t)blockIdx.y * kv_heads * value_dim;
    each_of_heads(kv_heads, padded, [&](int head, int d) {
        keys[((size_t)head * capacity + position) * padded + d] = d < key_dim ? to_half(k[head * key_dim + d]) : 0;
    });
    each_of_heads(kv_heads, value_dim, [&](int head, int d) {
        values[((size_t)head * value_dim + d) * capacity + position] = to_half(v[head * value_dim + d]);
    });
}
EXPORT(append_half)

extern "C" __global__ void append_float(float *keys, float *values, const float *k, const float *v, const int *length, int ahead,
                                        int kv_heads, int key_dim, int value_dim, int capacity) {
    const int position = *length + ahead + blockIdx.y;
    if (position >= capacity) return;
    k += (size_t)blockIdx.y * kv_heads * key_dim;
    v += (size_t)blockIdx.y * kv_heads * value_dim;
    each_of_heads(kv_heads, key_dim, [&](int head, int d) { keys[((size_t)head * capacity + position) * key_dim + d] = k[head * key_dim + d]; });
    each_of_heads(kv_heads, value_dim, [&](int head, int d) { values[((size_t)head * capacity + position) * value_dim + d] = v[head * value_dim + d]; });
}
EXPORT(append_float)

// read_half writes the key and the value of one position as float32 rows of kv_heads·key_dim and
// kv_heads·value_dim numbers.
extern "C" __global__ void read_half(float *k, float *v, const half_bits *keys, const half_bits *values, int position, int kv_heads,
                                     int key_dim, int value_dim, int capacity) {
    each_of_heads(kv_heads, key_dim, [&](int head, int d) { k[head * key_dim + d] = from_half(keys[((size_t)head * capacity + position) * padded_dim(key_dim) + d]); });
    each_of_heads(kv_heads, value_dim, [&](int head, int d) { v[head * value_dim + d] = from_half(values[((size_t)head * value_dim + d) * capacity + position]); });
}
EXPORT(read_half)

extern "C" __global__ void read_float(float *k, float *v, const float *keys, const float *values, int position, int kv_heads, int key_dim,
                                      int value_dim, int capacity) {
    each_of_heads(kv_heads, key_dim, [&](int head, int d) { k[head * key_dim + d] = keys[((size_t)head * capacity + position) * key_dim + d]; });
    each_of_heads(kv_heads, value_dim, [&](int head, int d) { v[head * value_dim + d] = values[((size_t)head * capacity + position) * value_dim + d]; });
}
EXPORT(read_float)

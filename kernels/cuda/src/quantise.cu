// Quantising activations for products with quantised weights.
#include "operand.h"

// quantise_rows quantises x (m, k) by the rule of ref.QuantizeRow; k is a multiple of 32. Blocks of 256
// threads, grid (⌈slabs/8⌉, m). A thread has four columns, eight threads have a block of 32.
extern "C" __global__ void __launch_bounds__(256) quantise_rows(unsigned char *to, const float *x, int k, int slabs) {
    const int four = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    uint4 v = {};
    if (4 * four < k) v = load_cached(x + (size_t)row * k + 4 * four);
    const float values[4] = {bits_float(v.x), bits_float(v.y), bits_float(v.z), bits_float(v.w)};
    quantise_four(to, values, row, four, slabs);
}
EXPORT(quantise_rows)

// The highest speed of the tensor cores: products of tiles that never leave the registers. Other
// kernels are compared with it.
#include "gpu.h"

constexpr int peak_chains = 8;  // independent sums of a warp, so that no product waits for another

// matrix_peak multiplies a tile a (16×16) with a tile b (16×8) of bfloat16 numbers, 8·rounds times
// per warp. Every thread of the grid writes the sum of its part of the results to out. operands
// (32, 6) holds a[4] and b[2] of each lane, as for mma_bfloat16.
extern "C" __global__ void __launch_bounds__(256) matrix_peak(float *out, const unsigned *operands, int rounds) {
    const unsigned *own = operands + 6 * lane_id();
    unsigned a[4] = {own[0], own[1], own[2], own[3]}, b[2] = {own[4], own[5]};
    float sum[peak_chains][4] = {};
    UNROLL_BY(1) for (int i = 0; i < rounds; i++)
        UNROLL for (int chain = 0; chain < peak_chains; chain++) mma_bfloat16(sum[chain], a, b);
    float total = 0.0f;
    UNROLL for (int chain = 0; chain < peak_chains; chain++)
        UNROLL for (int j = 0; j < 4; j++) total += sum[chain][j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
EXPORT(matrix_peak)

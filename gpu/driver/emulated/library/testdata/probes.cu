// Small kernels, one for each kind of mistake in kernels. gpu/planted/mutants.txt plants one mistake after another,
// and the tests must notice each. These kernels are only emulated. Their PTX is declarations alone (kernel_test.go).
#include "gpu.h"

// rotate_staged writes to y the 4·threads numbers of x rotated by 4, through an asynchronous copy to shared memory. One block.
extern "C" __global__ void rotate_staged(float *y, const float *x) {
    DYNAMIC_SHARED(float, staged);
    int t = threadIdx.x, n = 4 * blockDim.x;
    copy_async(staged + 4 * t, x + 4 * t);
    copy_async_commit();
    copy_async_wait(0);
    __syncthreads();
    for (int i = 0; i < 4; i++) y[4 * t + i] = staged[(4 * t + i + 4) % n];
}
EXPORT(rotate_staged)

// sum_twice writes to y, by block, the sum of that block's part of x and the sum of its squares. Blocks of 128 threads.
extern "C" __global__ void sum_twice(float *y, const float *x) {
    SHARED(float, sums, [4]);
    float v = x[blockIdx.x * blockDim.x + threadIdx.x], parts[2] = {v, v * v};
    for (int k = 0; k < 2; k++) {
        float sum = parts[k];
        for (int o = warp_size / 2; o > 0; o /= 2) sum += __shfl_xor_sync(full_warp, sum, o);
        __syncthreads();  // the sums of before are read
        if (lane_id() == 0) sums[warp_id()] = sum;
        __syncthreads();  // the sums of now are written
        if (threadIdx.x == 127u - k) y[2 * blockIdx.x + k] = sums[0] + sums[1] + sums[2] + sums[3];
    }
}
EXPORT(sum_twice)

// largest raises *best to the largest of n keys.
extern "C" __global__ void largest(u64 *best, const u64 *keys, int n) {
    u64 most = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) most = keys[i] > most ? keys[i] : most;
    atomicMax(best, most);
}
EXPORT(largest)

// count counts the n ids into bins.
extern "C" __global__ void count(int *bins, const int *ids, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[ids[i]], 1);
    }
}
EXPORT(count)

// neighbours writes to y the x of a thread's neighbour in the warp, through shared memory, without a barrier of
// the whole block.
extern "C" __global__ void neighbours(float *y, const float *x) {
    SHARED(float, own, [64]);
    int t = threadIdx.x, first = t - lane_id();
    own[t] = x[t];
    __syncwarp();
    y[t] = own[first + (lane_id() + 1) % warp_size];
}
EXPORT(neighbours)

// reduce_split adds the partial sums of the blocks of x in the order of the blocks. The last block to arrive adds
// them. *arrived is 0 before and after.
extern "C" __global__ void reduce_split(float *y, float *parts, int *arrived, const float *x, int per_block) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int i = 0; i < per_block; i++) sum += x[blockIdx.x * per_block + i];
    parts[blockIdx.x] = sum;
    __threadfence();
    if (atomicAdd(arrived, 1) != (int)gridDim.x - 1) return;
    __threadfence();
    float total = 0.0f;
    for (int b = 0; b < (int)gridDim.x; b++) total += parts[b];
    *y = total;
    atomicAdd(arrived, -(int)gridDim.x);
}
EXPORT(reduce_split)

// unpack writes to y the 8 nibbles of each word of w, 4·n words in 16-byte loads, lowest first.
extern "C" __global__ void unpack(int *y, const unsigned *w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 v = load_once(w + 4 * i);
    unsigned words[4] = {v.x, v.y, v.z, v.w};
    for (int k = 0; k < 32; k++) y[32 * i + k] = (int)(words[k / 8] >> 4 * (k % 8) & 15);
}
EXPORT(unpack)

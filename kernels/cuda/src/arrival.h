// Finds the last of several blocks to finish, so that it can work on the results of all. Each finished block
// raises a counter. No block waits for another, so blocks need not run at the same time.
#pragma once
#include "gpu.h"

// last_to_arrive tells all threads of a block whether it is the last of `blocks` blocks to call this with
// the same counter. The last block sees everything that the others wrote before their call. The parameter
// before points to a float in shared memory.
INLINE bool last_to_arrive(unsigned *arrived, int blocks, float *before) {
    __syncthreads();  // all of the block has written
    if (threadIdx.x == 0) *before = bits_float(ordered_inc(arrived, (unsigned)blocks - 1));  // the last block resets it to 0
    __syncthreads();
    return float_bits(*before) + 1 == (unsigned)blocks;
}

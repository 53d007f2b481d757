// Extra blocks of a launch load into the second-level cache what later launches read. They run on multiprocessors
// that would be idle, and compute nothing. No block waits for them.
#pragma once
#include "gpu.h"

constexpr int most_fetched = 4;  // ranges

// Fetched is a range of global memory.
struct Fetched {
    const unsigned char *from;
    int bytes;  // 0: there is none
};

// fetch_ahead begins to load all lines of the ranges, in their order. The extra blocks, those with blockIdx.y ≥
// first, share the lines evenly.
INLINE void fetch_ahead(const Fetched (&ranges)[most_fetched], int first) {
    const int each = gridDim.x * gridDim.z, block = ((int)blockIdx.y - first) * each + blockIdx.z * gridDim.x + blockIdx.x;
    const int stride = ((int)gridDim.y - first) * each * blockDim.x;
    int line = block * blockDim.x + threadIdx.x;  // counted from the first of the range
    UNROLL for (int i = 0; i < most_fetched; i++) {
        const int lines = (ranges[i].bytes + line_bytes - 1) / line_bytes;
        UNROLL_BY(1) for (; line < lines; line += stride) prefetch_l2(ranges[i].from + (size_t)line * line_bytes);
        line -= lines;
    }
}

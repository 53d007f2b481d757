// Rotary position embedding (Su et al., 2021) with tables that the host computes in double precision.
#include "gpu.h"

// rope rotates the first dim numbers of every head of row blockIdx.y of x (rows, heads·head_dim) in
// place. cos and sin (positions, dim/2) have the cosine and sine of each pair's angle. Pair i is (i,
// i+dim/2) with neox, otherwise (2i, 2i+1).
//
// Row 0 is at position *length + ahead. *length is in device memory, so that a captured graph can be
// replayed in every round. x points to the first row to rotate.
extern "C" __global__ void rope(float *x, const float *cos, const float *sin, const int *length, int ahead, int heads, int head_dim, int dim, int neox) {
    int half = dim / 2, position = *length + ahead + (int)blockIdx.y;
    x += (size_t)blockIdx.y * heads * head_dim;
    cos += (size_t)position * half;
    sin += (size_t)position * half;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < heads * half; p += gridDim.x * blockDim.x) {
        int i = p % half;
        float *head = x + p / half * head_dim;
        float *first = neox ? head + i : head + 2 * i, *second = neox ? head + i + half : head + 2 * i + 1;
        float a = *first, b = *second;
        *first = a * cos[i] - b * sin[i];
        *second = a * sin[i] + b * cos[i];
    }
}
EXPORT(rope)

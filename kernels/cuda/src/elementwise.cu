// Operations on numbers that do not see each other.
#include "gpu.h"

// add_rows adds y to x, n numbers.
extern "C" __global__ void add_rows(float *x, const float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += y[i];
}
EXPORT(add_rows)

// swiglu writes silu(gate)·up to gate, n numbers, silu(x) = x / (1 + e^−x).
extern "C" __global__ void swiglu(float *gate, const float *up, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float g = gate[i];
        gate[i] = divide_rn(g, 1.0f + exp_rn(-g)) * up[i];
    }
}
EXPORT(swiglu)

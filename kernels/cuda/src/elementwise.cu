// Operations on independent numbers.
#include "operand.h"

// add_rows adds y to x, n numbers.
extern "C" __global__ void add_rows(float *x, const float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += y[i];
}
EXPORT(add_rows)

// swiglu writes silu(gate)·up to gate, n numbers.
extern "C" __global__ void swiglu(float *gate, const float *up, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        gate[i] = swiglu_of(gate[i], up[i]);
    }
}
EXPORT(swiglu)

// The activations of networks; see ref.Activations.
INLINE float gelu(float x) { return divide_rn(x, 1.0f + exp_rn(-(x * fma_rn(0.07135481f, x * x, 1.5957691f)))); }
INLINE float relu_squared(float x) { return x < 0 ? 0.0f : x * x; }

// activate_* replace x by its activation, n numbers, times y if gated.
#define ACTIVATE(activation)                                                                                                            \
    extern "C" __global__ void activate_##activation(float *x, const float *y, int gated, int n) {                                      \
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {                                       \
            float v = activation(x[i]);                                                                                                 \
            x[i] = gated ? v * y[i] : v;                                                                                                \
        }                                                                                                                               \
    }                                                                                                                                   \
    EXPORT(activate_##activation)
ACTIVATE(silu)
ACTIVATE(gelu)
ACTIVATE(relu_squared)
ACTIVATE(sigmoid)

// activate_clamped_swiglu writes g·σ(1.702·g)·(u + 1) to x, n numbers: g = min(x, 7), and u is y clamped to
// −7 … 7. gated is 1.
extern "C" __global__ void activate_clamped_swiglu(float *x, const float *y, int gated, int n) {
    constexpr float limit = 7.0f, slope = 1.702f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float g = x[i] > limit ? limit : x[i], u = y[i] > limit ? limit : y[i] < -limit ? -limit : y[i];
        x[i] = divide_rn(g, 1.0f + exp_rn(-(slope * g))) * (u + 1.0f);
    }
}
EXPORT(activate_clamped_swiglu)

// scale_rows multiplies n numbers by factor.
extern "C" __global__ void scale_rows(float *x, float factor, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= factor;
}
EXPORT(scale_rows)

// cap_rows writes limit·tanh(x/limit) to x, n numbers.
extern "C" __global__ void cap_rows(float *x, float limit, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = limit * tanh_rn(divide_rn(x[i], limit));
}
EXPORT(cap_rows)

// add_bias adds b (cols) to row blockIdx.y of x.
extern "C" __global__ void add_bias(float *x, const float *b, int cols) {
    x += (size_t)blockIdx.y * cols;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x) x[k] += b[k];
}
EXPORT(add_bias)

// copy_block writes row blockIdx.y of x (·, cols) to columns col … col+cols−1 of row blockIdx.y of dst
// (·, dst_cols). Both pointers point to the first row to copy. The rows do not overlap.
extern "C" __global__ void copy_block(float *dst, const float *x, int cols, int dst_cols, int col) {
    dst += (size_t)blockIdx.y * dst_cols + col;
    x += (size_t)blockIdx.y * cols;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x) dst[k] = x[k];
}
EXPORT(copy_block)

// swiglu_* write silu(gate)·up of row blockIdx.y of gate and up (rows, cols) as the operand of a
// product. They do not change gate.
#define SWIGLU_OPERAND(suffix, Operand)                                                                                                 \
    extern "C" __global__ void swiglu_##suffix(unsigned char *to, const float *gate, const float *up, int cols, int slabs) {            \
        gate += (size_t)blockIdx.y * cols;                                                                                              \
        up += (size_t)blockIdx.y * cols;                                                                                                \
        Operand().write(to, blockIdx.y, cols, slabs, [=](int k) { return swiglu_of(gate[k], up[k]); });                                 \
    }                                                                                                                                   \
    EXPORT(swiglu_##suffix)
FOR_EACH_OPERAND(SWIGLU_OPERAND)

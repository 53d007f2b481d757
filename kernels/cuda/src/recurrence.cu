// Layers that keep a state of fixed size instead of keys and values, or beside them.
#include "recurrence.h"

// recur_layer takes the narrowest state that key_dim fits in.
template <bool delta> INLINE void recur_layer(float *dst, float *states, const Inputs &in, const Layer &l, const float *skip, float *room, float *near) {
    if (l.key_dim <= 64) recur<2, delta>(dst, states, in, l, skip, room, near);
    else if (l.key_dim <= 128) recur<4, delta>(dst, states, in, l, skip, room, near);
    else recur<8, delta>(dst, states, in, l, skip, room, near);
}

// delta_net computes m rows of a gated delta net after the tokens of a cache, and updates the cache's state; see
// recurrence.h. x is (m, width of the input), alpha and beta (m, heads), dst (m, heads·value_dim). Grid (value_dim
// / 16 rounded up, heads), blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(recurrence_warps *warp_size, 2)
    delta_net(float *dst, const float *x, const float *alpha, const float *beta, const float *conv, const float *bias, const float *rate,
              const float *shift, float *state, float *ring, const int *numbers, int m, int key_heads, int heads, int key_dim, int value_dim,
              int kernel, int grouped, int kept, float eps) {
    SHARED(__align__(16) float, room, [2 * tokens_numbers]);
    SHARED(float, near, [usual_kernel * Tokens<8>::stride]);
    const Layer l = {key_heads, heads, key_dim, value_dim, kernel, grouped, kept, conv, bias, rate, shift, eps};
    recur_layer<true>(dst, state, Inputs(x, alpha, beta, ring, numbers, m, l.width(), heads, kept + kernel - 1), l, nullptr, room, near);
}
EXPORT(delta_net)

// mamba2 computes m rows of a Mamba-2 layer, with the grid, blocks and arguments of delta_net; but steps (m, heads)
// takes the place of alpha and beta, and skip is (heads).
extern "C" __global__ void __launch_bounds__(recurrence_warps *warp_size, 2)
    mamba2(float *dst, const float *x, const float *steps, const float *conv, const float *bias, const float *rate, const float *shift,
           const float *skip, float *state, float *ring, const int *numbers, int m, int key_heads, int heads, int key_dim, int value_dim,
           int kernel, int grouped, int kept) {
    SHARED(__align__(16) float, room, [2 * tokens_numbers]);
    SHARED(float, near, [usual_kernel * Tokens<8>::stride]);
    const Layer l = {key_heads, heads, key_dim, value_dim, kernel, grouped, kept, conv, bias, rate, shift, 0.0f};
    recur_layer<false>(dst, state, Inputs(x, steps, nullptr, ring, numbers, m, l.width(), heads, kept + kernel - 1), l, skip, room, near);
}
EXPORT(mamba2)

// short_convolution computes row blockIdx.y of a gated short convolution after the tokens of a cache. x is (m,
// 3·width): the gate of the input, the gate of the output, the input. dst is (m, width). The cache keeps a ring
// of the gated inputs, as in recurrence.h, with rows of `width` numbers.
extern "C" __global__ void short_convolution(float *dst, const float *x, const float *conv, const float *bias, float *ring, const int *numbers,
                                             int m, int width, int kernel, int kept) {
    const Inputs in(x, nullptr, nullptr, ring, numbers, m, width, 0, kept + kernel - 1);
    const int row = blockIdx.y;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < width; k += gridDim.x * blockDim.x) {
        auto gated = [&](int i) { return x[(size_t)i * 3 * width + k] * x[(size_t)i * 3 * width + 2 * width + k]; };
        float sum = bias ? bias[k] : 0.0f;
        UNROLL_BY(4) for (int j = 0; j < kernel; j++) {
            const int i = row - kernel + 1 + j;
            if (in.position + i < 0) continue;
            sum = fma_rn(i < 0 ? in.earlier(in.position + i)[k] : gated(i), conv[(size_t)j * width + k], sum);
        }
        dst[(size_t)row * width + k] = sum * x[(size_t)row * 3 * width + width + k];
        if (row >= in.first_kept()) in.later(row)[k] = gated(row);
    }
}
EXPORT(short_convolution)

// Mixtures of experts: which experts the rows choose, and what becomes of the experts' results. The products
// are in chosen.h, which also says what a slot is.
#include "arrival.h"
#include "chosen.h"
#include "rank.h"

constexpr int most_experts = 4096;

struct Router {
    int experts, used;  // of the mixture; of each row
    int sigmoid, normed;
    float scale;
};

// Shares computes the share of an expert, before the shares of the row are normed: σ(score), or the softmax
// of all scores.
struct Shares {
    bool is_sigmoid;
    float peak, total;  // the largest score; the sum of exp(score − peak)
    INLINE_MEMBER float of(float score) const { return is_sigmoid ? sigmoid(score) : divide_rn(exp_rn(score - peak), total); }
};

// choose writes the experts of a row, the best first, and their shares. A warp calls it. The experts with
// the largest scores are chosen or, with a bias, with the largest sums of share and bias. If a score is NaN
// or +Inf, or none is finite, the shares are NaN, so that this stays visible.
INLINE void choose(int *chosen, float *shares, const float *scores, const float *bias, const Router &r) {
    u64 most = 0;
    for (int e = lane_id(); e < r.experts; e += warp_size) {
        u64 key = key_of(scores[e], e);
        most = key > most ? key : most;
    }
    most = warp_most(most);
    Shares share = {r.sigmoid != 0, score_of(most), 1.0f};
    if (!r.sigmoid) {
        float sum = 0;
        for (int e = lane_id(); e < r.experts; e += warp_size) sum += exp_rn(scores[e] - share.peak);
        share.total = warp_sum(sum);
    }
    float sum = 0;
    u64 before = 0;  // the key of the expert chosen last
    for (int rank = 0; rank < r.used; rank++) {
        u64 best = 0;
        for (int e = lane_id(); e < r.experts; e += warp_size) {
            u64 key = key_of(bias ? share.of(scores[e]) + bias[e] : scores[e], e);
            if ((rank == 0 || key < before) && key > best) best = key;
        }
        before = warp_most(best);
        float own = share.of(scores[id_of(before)]);
        sum += own;
        if (lane_id() == 0) {
            chosen[rank] = id_of(before);
            shares[rank] = own;
        }
    }
    __syncwarp();
    for (int rank = lane_id(); rank < r.used; rank += warp_size) {
        float normed = r.normed ? divide_rn(shares[rank], sum + 1e-20f) : shares[rank];
        shares[rank] = is_best(most) ? normed * r.scale : bits_float(0x7fc00000u);
    }
}

// group_choices lists the slots of each expert, in groups of 8. One block calls it. It writes the number of
// groups to counts[0], and adds the number of experts that were chosen to counts[1]. firsts is shared
// memory, most_experts long.
INLINE void group_choices(int *counts, Group *groups, const int *chosen, int slots, int experts, int *firsts) {
    for (int e = threadIdx.x; e < experts; e += blockDim.x) {
        int n = 0;
        for (int slot = 0; slot < slots; slot++) n += chosen[slot] == e;
        firsts[e] = (n + group_rows - 1) / group_rows;
    }
    __syncthreads();
    if (warp_id() == 0) {  // numbers of groups become, for each expert, the index of its first group
        int before = 0, touched = 0;
        for (int from = 0; from < experts; from += warp_size) {
            int e = from + lane_id(), own = e < experts ? firsts[e] : 0, upto = own;
            for (int o = 1; o < warp_size; o *= 2) {
                int below = __shfl_up_sync(full_warp, (unsigned)upto, o);
                if (lane_id() >= o) upto += below;
            }
            if (e < experts) firsts[e] = before + upto - own;
            before += __shfl_sync(full_warp, upto, warp_size - 1);
            touched += __popc(__ballot_sync(full_warp, own > 0));
        }
        if (lane_id() == 0) {
            counts[0] = before;
            counts[1] += touched;
        }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x) {
        Group *group = groups + firsts[e];
        int n = 0;
        for (int slot = 0; slot < slots; slot++) {
            if (chosen[slot] != e) continue;
            group[n / group_rows].expert = e;
            group[n / group_rows].slots[n % group_rows] = slot;
            n++;
        }
        for (; n % group_rows != 0; n++) group[n / group_rows].slots[n % group_rows] = -1;
    }
}

// route_rows chooses experts for m rows of scores (m, experts), and groups the choices. chosen and shares
// are (m, used). bias may be null. A warp per row; the last block to arrive groups. experts is at most
// most_experts. arrived is 0 before and after.
extern "C" __global__ void __launch_bounds__(256) route_rows(int *chosen, float *shares, int *counts, Group *groups, unsigned *arrived,
                                                             const float *scores, const float *bias, int m, int experts, int used,
                                                             int by_sigmoid, int normed, float scale) {
    SHARED(int, firsts, [most_experts]);
    SHARED(float, before, [1]);
    int row = blockIdx.x * (blockDim.x / warp_size) + warp_id();
    if (row < m) choose(chosen + (size_t)row * used, shares + (size_t)row * used, scores + (size_t)row * experts, bias, {experts, used, by_sigmoid, normed, scale});
    if (last_to_arrive(arrived, gridDim.x, before)) group_choices(counts, groups, chosen, m * used, experts, firsts);
}
EXPORT(route_rows)

// add_expert_bias adds to slot blockIdx.y of x (slots, cols) the row of its expert in b (experts, cols).
extern "C" __global__ void add_expert_bias(float *x, const float *b, const int *chosen, int cols) {
    x += (size_t)blockIdx.y * cols;
    b += (size_t)chosen[blockIdx.y] * cols;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x) x[k] += b[k];
}
EXPORT(add_expert_bias)

// scale_experts multiplies slot blockIdx.y of x (slots, cols) by the factor of its expert.
extern "C" __global__ void scale_experts(float *x, const float *factors, const int *chosen, int cols) {
    x += (size_t)blockIdx.y * cols;
    const float factor = factors[chosen[blockIdx.y]];
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x) x[k] *= factor;
}
EXPORT(scale_experts)

// mix_slots writes to row blockIdx.y of dst (m, cols) the sum of the row's slots of x (m · used, cols), each
// times its share. The products are rounded, and added by rank.
extern "C" __global__ void mix_slots(float *dst, const float *x, const float *shares, int cols, int used) {
    dst += (size_t)blockIdx.y * cols;
    x += (size_t)blockIdx.y * used * cols;
    shares += (size_t)blockIdx.y * used;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x) {
        float sum = x[k] * shares[0];
        for (int rank = 1; rank < used; rank++) sum += x[(size_t)rank * cols + k] * shares[rank];
        dst[k] = sum;
    }
}
EXPORT(mix_slots)

// weigh_rows multiplies row blockIdx.y of x (m, cols) by σ(gate[blockIdx.y]).
extern "C" __global__ void weigh_rows(float *x, const float *gate, int cols) {
    x += (size_t)blockIdx.y * cols;
    float factor = sigmoid(gate[blockIdx.y]);
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < cols; k += gridDim.x * blockDim.x) x[k] *= factor;
}
EXPORT(weigh_rows)

// From scores to weights, and from weights to a token.
//
// A row of weights stands for the distribution mass / total (mass.h). The acceptance test and the draws read
// the same weights, so both use the same distribution, whatever the rounding of exp.
#include "draw.h"
#include "filters.h"

// Weight computes the weight of a token from its score.
struct Weight {
    bool valid;
    u64 cut;
    float best, temperature, filtering, least;

    INLINE_MEMBER float operator()(float score, int id) const {
        if (!valid || key_of(score, id) < cut) return 0.0f;
        float weight = exp_rn(divide_rn(score - best, filtering));
        if (weight < least) return 0.0f;
        return temperature != filtering ? exp_rn(divide_rn(score - best, temperature)) : weight;
    }
};

// softmax_rows writes exp((score − best) / temperature) to weights (rows, vocab), and the sum of the
// masses of each slice to sums (rows, slices). A token gets 0 if min_p drops it, or if cuts is not null and
// the token's key is below the row's cut. A row with NaN or +Inf, or without a finite score, gets only
// zeros. weights may be the memory of scores. Grid (⌈slices / warps of a block⌉, rows).
extern "C" __global__ void __launch_bounds__(256) softmax_rows(const float *scores, const u64 *peaks, const u64 *cuts, const Filters *filters,
                                                               float *weights, u64 *sums, int vocab) {
    int slices = slices_of(vocab), slice = blockIdx.x * (blockDim.x / warp_size) + warp_id(), row = blockIdx.y;
    if (slice >= slices) return;
    u64 peak = row_peak(peaks + (size_t)row * slices, slices), cut = cuts ? cuts[row] : 0;
    Weight weigh = {is_best(peak), cut, score_of(peak), filters->temperature, filters->filter_temperature, filters->min_p};
    int first = slice * slice_tokens, end = first + slice_length(vocab, slice), j = first + lane_id();
    const float *x = scores + (size_t)row * vocab;
    float *w = weights + (size_t)row * vocab;
    const int unit = unit_of(vocab);
    u64 sum = 0;
    for (; j + (ahead - 1) * warp_size < end; j += ahead * warp_size) {
        float score[ahead];
        UNROLL for (int i = 0; i < ahead; i++) score[i] = x[j + i * warp_size];
        UNROLL for (int i = 0; i < ahead; i++) {
            float weight = weigh(score[i], j + i * warp_size);
            w[j + i * warp_size] = weight;
            sum += mass_of(weight, unit);
        }
    }
    for (; j < end; j += warp_size) {
        float weight = weigh(x[j], j);
        w[j] = weight;
        sum += mass_of(weight, unit);
    }
    sum = lane_value(running_sum(sum), warp_size - 1);
    if (lane_id() == 0) sums[(size_t)row * slices + slice] = sum;
}
EXPORT(softmax_rows)

// draw_rows draws a token from every row of every sequence; the rows of a sequence are contiguous.
// ids gets the token, −1 for a row without mass. feed, unless it is null, gets the token for the next
// step to embed, 0 instead of −1. chances gets the token's probability. Row i uses the uniform at
// position first + i. Grid (rows, sequences), one warp per block.
extern "C" __global__ void __launch_bounds__(32) draw_rows(const float *weights, const u64 *sums, const Round *rounds, int stream, int first,
                                                           int *ids, int *feed, float *chances, int vocab) {
    size_t row = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    Row p = {weights + row * vocab, sums + row * slices_of(vocab), vocab};
    u64 total = p.total();
    int id = p.draw(uniform_share(uniform(rounds[blockIdx.y], (unsigned)stream, first + (int)blockIdx.x), total));
    if (lane_id() != 0) return;
    ids[row] = id;
    if (feed) feed[row] = id < 0 ? 0 : id;
    chances[row] = id < 0 ? 0.0f : quotient(p.mass(id), total);
}
EXPORT(draw_rows)

// The filters top-k and top-p. softmax_rows applies min-p.
//
// A row's tokens are divided into bins by their scores. First, bin_rows adds up the amounts of each bin: the
// number of tokens for top-k, else their mass. Then cut_rows knows in which bin the amounts reach what is
// wanted. It collects the tokens of this bin, usually a few hundred (with both filters also all better ones),
// and finds the cut among them. So a row is read twice, by the whole grid, unless these tokens are too many
// (cut_slowly).
#include "arrival.h"
#include "filters.h"
#include "select.h"

constexpr int most_candidates = 2048;

// Found is what blocks tell each other about a row. All of it is 0 before bin_rows and after cut_rows.
struct Found {
    u64 amounts[most_bins];
    u64 candidates[most_candidates];  // keys, in any order
    unsigned count;                   // of candidates; the array has as many of them as it can hold
    unsigned arrived;
};

// Bins gives each score a bin, 0 for the highest scores. Whatever the rounding, no score has a higher bin
// than a smaller score, and this is all that the result depends on.
struct Bins {
    float peak, per;  // the highest score; bins per unit of score
    INLINE_MEMBER int of(float score) const {
        float bin = (peak - score) * per;
        return bin < most_bins - 1 ? (int)bin : most_bins - 1;
    }
};

// Cutting is how a row is cut.
struct Cutting {
    int k;        // 0: top-k is off, or keeps every token
    float top_p;  // 1: off
    float temperature;
    bool is_needed;  // false if no filter is on, and for a row that has no best token
    Bins bins;

    INLINE_MEMBER bool both() const { return k > 0 && top_p < 1.0f; }
    // mass is a token's mass in units of 2^-40.
    INLINE_MEMBER u64 mass(float score) const { return mass_of(exp_rn(divide_rn(score - bins.peak, temperature)), 40); }
    INLINE_MEMBER Goal goal() const { return {k > 0 ? 1.0f : top_p, (u64)k}; }
};

// cutting_of reads the filters and the slices' peaks of a row. Each warp calls it. The bins reach from the
// best score down by four times the distance to the least peak of a slice. With top-p alone they reach at
// most down to where tokens have no mass.
INLINE Cutting cutting_of(const u64 *peaks, const Filters *filters, int vocab) {
    constexpr float massless = 28.0f;  // e^-28 is below 2^-40
    u64 most = 0, least = ~0ull;
    for (int from = lane_id(), slices = slices_of(vocab); from < slices; from += ahead * warp_size) {
        u64 peak[ahead];
        UNROLL for (int i = 0; i < ahead; i++) peak[i] = peaks[from + i * warp_size < slices ? from + i * warp_size : slices - 1];
        UNROLL for (int i = 0; i < ahead; i++) {
            most = peak[i] > most ? peak[i] : most;
            least = is_best(peak[i]) && peak[i] < least ? peak[i] : least;
        }
    }
    most = warp_most(most);
    least = ~warp_most(~least);
    Cutting by = {filters->top_k, filters->top_p, filters->filter_temperature, false, {score_of(most), 0.0f}};
    if (by.k >= vocab) by.k = 0;
    by.is_needed = is_best(most) && (by.k > 0 || by.top_p < 1.0f);
    float per = divide_rn(most_bins / 4, by.bins.peak - score_of(least));
    if (per < 1e30f) by.bins.per = per;
    per = divide_rn(most_bins, massless * by.temperature);
    if (by.k == 0 && per > by.bins.per) by.bins.per = per;
    return by;
}

// bin_rows adds up the amounts of the bins of each row of scores (rows, vocab). peaks (rows, slices) is as
// peak_rows writes it. Grid (slices, rows).
extern "C" __global__ void __launch_bounds__(256) bin_rows(const float *scores, const u64 *peaks, const Filters *filters, Found *found, int vocab) {
    SHARED(Amount, amounts, [most_bins]);
    int row = blockIdx.y, slice = blockIdx.x, first = slice * slice_tokens;
    Cutting by = cutting_of(peaks + (size_t)row * gridDim.x, filters, vocab);
    if (!by.is_needed) return;
    for (int b = threadIdx.x; b < most_bins; b += blockDim.x) amounts[b].set(0);
    __syncthreads();
    each_score(scores + (size_t)row * vocab, first, first + slice_length(vocab, slice), [&](float score, int) {
        u64 amount = by.k > 0 ? 1 : by.mass(score);
        if (amount) amounts[by.bins.of(score)].add(amount);
    });
    __syncthreads();
    for (int b = threadIdx.x; b < most_bins; b += blockDim.x) {
        u64 amount = amounts[b].value();
        if (amount) atomicAdd(&found[row].amounts[b], amount);
    }
}
EXPORT(bin_rows)

// cut_among returns the cut of a row by its n candidates. They are the tokens of the bin at which the goal is
// reached; with both filters on, also all better tokens. keys and amounts are shared, most_candidates long.
INLINE u64 cut_among(u64 *keys, int n, const Cutting &by, Reached bin, Amount *amounts, Reached *place) {
    int padded = warp_size;
    while (padded < n) padded *= 2;
    for (int i = n + threadIdx.x; i < padded; i += blockDim.x) keys[i] = 0;
    sort_keys(keys, padded);
    if (by.k > 0 && !by.both()) return keys[bin.rest - 1];
    int kept = by.both() ? by.k : n;
    Goal goal = {1.0f, bin.rest};
    if (by.both()) goal = {by.top_p, 0};
    for (int i = threadIdx.x; i < kept; i += blockDim.x) amounts[i].set(by.mass(score_of(keys[i])));
    return keys[block_reach(amounts, kept, goal, place).at];
}

// cut_slowly returns the cut of a row by reading all of it many times. It is for rows with too many
// candidates, such as thousands of equal scores.
INLINE u64 cut_slowly(const float *scores, int vocab, const Cutting &by, Amount *amounts, Reached *place) {
    u64 cut = 0;
    if (by.k > 0) cut = select_key(scores, vocab, [](float) { return 1; }, cut, {1.0f, (u64)by.k}, amounts, place);
    if (by.top_p < 1.0f) cut = select_key(scores, vocab, [&](float score) { return by.mass(score); }, cut, {by.top_p, 0}, amounts, place);
    return cut;
}

// cut_rows writes to cuts (rows) the smallest key that top-k and then top-p keep. Top-p keeps, of the k best
// tokens, the fewest that reach the share top_p of their mass. A row that is not finite gets 0, and so does
// every row if neither filter is on. Grid and arguments are as for bin_rows, which comes before. The last
// block of a row to arrive finds the cut.
extern "C" __global__ void __launch_bounds__(512) cut_rows(const float *scores, const u64 *peaks, const Filters *filters, Found *found, u64 *cuts, int vocab) {
    SHARED(Amount, amounts, [most_candidates]);
    SHARED(u64, keys, [most_candidates]);
    SHARED(Reached, place, [1]);
    SHARED(unsigned, own, [2]);  // how many candidates the slice has, and how many are stored before them
    SHARED(float, before, [1]);
    int row = blockIdx.y, slice = blockIdx.x, first = slice * slice_tokens;
    scores += (size_t)row * vocab;
    found += row;
    Cutting by = cutting_of(peaks + (size_t)row * gridDim.x, filters, vocab);
    if (!by.is_needed) {
        if (slice == 0 && threadIdx.x == 0) cuts[row] = 0;
        return;
    }
    for (int b = threadIdx.x; b < most_bins; b += blockDim.x) amounts[b].set(found->amounts[b]);
    if (threadIdx.x == 0) own[0] = own[1] = 0;
    Reached bin = block_reach(amounts, most_bins, by.goal(), place);
    each_score(scores, first, first + slice_length(vocab, slice), [&](float score, int id) {
        int of = by.bins.of(score);
        if (of == bin.at || (of < bin.at && by.both())) keys[atomicAdd(&own[0], 1u)] = key_of(score, id);
    });
    __syncthreads();
    if (threadIdx.x == 0 && own[0]) own[1] = atomicAdd(&found->count, own[0]);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < own[0] && own[1] + i < most_candidates; i += blockDim.x) found->candidates[own[1] + i] = keys[i];
    if (!last_to_arrive(&found->arrived, gridDim.x, before)) return;

    unsigned n = found->count, held = n < most_candidates ? n : most_candidates;
    for (unsigned i = threadIdx.x; i < held; i += blockDim.x) {
        keys[i] = found->candidates[i];
        found->candidates[i] = 0;
    }
    for (int b = threadIdx.x; b < most_bins; b += blockDim.x) found->amounts[b] = 0;
    __syncthreads();  // all have read the count
    if (threadIdx.x == 0) found->count = 0;
    u64 cut = n == held ? cut_among(keys, (int)n, by, bin, amounts, place) : cut_slowly(scores, vocab, by, amounts, place);
    if (threadIdx.x == 0) cuts[row] = cut;
}
EXPORT(cut_rows)

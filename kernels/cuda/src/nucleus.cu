// The filters top-k, top-p and min-p.
#include "draw.h"
#include "filters.h"
#include "select.h"

// Tokens are the keys of a row.
struct Tokens {
    const float *scores;
    int vocab;
    INLINE_MEMBER int count() const { return vocab; }
    INLINE_MEMBER u64 key(int j, float score) const { return key_of(score, j); }
    INLINE_MEMBER u64 key(int j) const { return key_of(scores[j], j); }
};

// Mass computes the mass of a token in units of 2^-40. Masses up to negligible become 0.
struct Mass {
    float peak, temperature;
    u64 negligible;
    INLINE_MEMBER u64 operator()(u64 key) const {
        u64 mass = mass_of(exp_rn(divide_rn(score_of(key) - peak, temperature)), 40);
        return mass > negligible ? mass : 0;
    }
};

// total_mass returns the mass of all tokens whose key is at least floor; total is shared memory.
INLINE u64 total_mass(const Tokens &tokens, const Mass &mass, u64 floor, u64 *total) {
    if (threadIdx.x == 0) *total = 0;
    __syncthreads();
    u64 own = 0;
    each_key(tokens, [&](u64 key) {
        if (key >= floor) own += mass(key);
    });
    for (int o = warp_size / 2; o > 0; o /= 2) own += __shfl_xor_sync(full_warp, own, o);
    if (lane_id() == 0) atomicAdd(total, own);
    __syncthreads();
    return *total;
}

// cut_rows writes to cuts (rows) the smallest key that top-k and then top-p keep, for any k and without
// sorting. Top-p keeps, of the k best tokens, the fewest that reach the share top_p of their mass. It
// ignores tokens so light that vocab of them weigh no more than the mass to drop. softmax_rows applies
// min-p. A row that is not finite gets 0, and so does every row if neither filter is on. One block per
// row; peaks (rows, slices) is as peak_rows writes it.
extern "C" __global__ void __launch_bounds__(1024) cut_rows(const float *scores, const u64 *peaks, const Filters *filters, u64 *cuts, int vocab) {
    SHARED(u64, amounts, [most_bins]);
    SHARED(unsigned, bins, [most_bins]);
    SHARED(Choice<unsigned>, place, [1]);
    SHARED(Choice<u64>, share, [1]);
    SHARED(u64, total, [1]);
    SHARED(u64, least, [1]);
    int slices = slices_of(vocab), k = filters->top_k;
    u64 peak = row_peak(peaks + (size_t)blockIdx.x * slices, slices);
    Tokens tokens = {scores + (size_t)blockIdx.x * vocab, vocab};
    u64 cut = 0;
    if (is_best(peak)) {
        if (k > 0 && k < vocab) cut = select_key(tokens, One{}, floor_key(tokens, k, amounts), (unsigned)k, bins, bins, place, least);
        if (filters->top_p < 1.0f) {
            Mass mass = {score_of(peak), filters->filter_temperature, 0};
            u64 all = total_mass(tokens, mass, cut, total), wanted = share_of(filters->top_p, all);
            mass.negligible = (all - wanted) / (unsigned)vocab;
            cut = select_key(tokens, mass, cut, wanted ? wanted : 1, amounts, bins, share, least);
        }
    }
    if (threadIdx.x == 0) cuts[blockIdx.x] = cut;
}
EXPORT(cut_rows)

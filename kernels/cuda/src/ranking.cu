// The best tokens of each row that a verdict has used, for log-probabilities.
//
// Only the scores that decide come to the host. With the row's best score b, the log-probability of a token is
// its score − b − ln Σ exp(score − b).
#include "arrival.h"
#include "draw.h"

constexpr int most_ranked = 20;  // tokens of a row

// take_best calls take with the n largest keys that a warp holds, the largest first, and with 0 where there are
// no more. Each lane has `each` keys. No key but 0 is there twice.
template <int each, class Take> INLINE void take_best(u64 (&own)[each], int n, const Take &take) {
    UNROLL_BY(1) for (int i = 0; i < n; i++) {
        u64 most = 0;
        UNROLL for (int j = 0; j < each; j++) most = own[j] > most ? own[j] : most;
        most = warp_most(most);
        UNROLL for (int j = 0; j < each; j++) own[j] = own[j] == most ? 0 : own[j];
        take(i, most);
    }
}

// Standing is where a slice stands among those of its row.
struct Standing {
    u64 peak;    // the largest key of the row
    int better;  // how many slices have a larger key than the largest of this slice
};

INLINE Standing standing_of(const u64 *peaks, int slices, int slice) {
    u64 own = peaks[slice], most = 0, better = 0;
    for (int s = lane_id(); s < slices; s += warp_size) {
        u64 peak = peaks[s];
        most = peak > most ? peak : most;
        better += peak > own;
    }
    return {warp_most(most), (int)lane_value(running_sum(better), warp_size - 1)};
}

// rank_slice returns the sum of the masses of exp(score − best score of the row) over a slice, 0 if the row has
// no best token (is_best). It also writes keys of the slice to best, the largest first. Each slice that is better
// has at least one better token, so the k − better best keys are enough. One warp calls it.
INLINE u64 rank_slice(const float *scores, Standing at, int slice, int vocab, int k, u64 *best) {
    constexpr int each = slice_tokens / warp_size;
    const int first = slice * slice_tokens + lane_id();
    u64 sum = 0;
    if (is_best(at.peak)) {
        UNROLL_BY(1) for (int from = first; from < first + slice_tokens; from += ahead * warp_size) {
            float score[ahead];
            UNROLL for (int j = 0; j < ahead; j++) {
                int id = from + j * warp_size;
                score[j] = id < vocab ? scores[id] : -infinity();
            }
            UNROLL for (int j = 0; j < ahead; j++) sum += mass_of(exp_rn(score[j] - score_of(at.peak)), unit_of(vocab));
        }
    }
    if (at.better < k) {
        u64 keys[each];
        UNROLL for (int j = 0; j < each; j++) {
            int id = first + j * warp_size;
            keys[j] = id < vocab ? key_of(scores[id], id) : 0;
        }
        take_best(keys, k - at.better, [&](int i, u64 key) {
            if (lane_id() == 0) best[i] = key;
        });
    }
    return lane_value(running_sum(sum), warp_size - 1);
}

// rank_rows ranks the rows 0 … accepted of a verdict, in scores (rows, vocab); peaks (rows, slices) is as peak_rows
// writes it for the same scores. verdict is the word with the number of accepted tokens from bit 24 on, and below it
// the token that follows them, or all ones. drafts has the draft tokens.
//
// results is (rows, 2+k). A row has the sum of the masses of exp(score − best score), 0 if the row has no best token
// (is_best); the key of the row's own token, which is draft token i for an accepted one, or the token that follows; and
// the k largest keys, the largest first, with 0 where the vocabulary has no more. Rows after the verdict stay as they
// are.
//
// Grid (⌈slices / warps of a block⌉, rows). Each warp has a slice; the last block of a row to arrive merges. sums is
// (rows, slices). best is (rows, most_ranked, most_ranked): the slice that `better` slices exceed (Standing) has its
// keys in place `better`. arrived has a counter for each row, 0 before and after. k is at most most_ranked.
extern "C" __global__ void __launch_bounds__(256) rank_rows(const float *scores, const u64 *peaks, const unsigned *verdict, const int *drafts,
                                                            u64 *sums, u64 *best, unsigned *arrived, u64 *results, int k, int vocab) {
    SHARED(float, before, [1]);
    int row = blockIdx.y, accepted = (int)(*verdict >> 24);
    if (row > accepted) return;
    int slices = slices_of(vocab), slice = blockIdx.x * (blockDim.x / warp_size) + warp_id();
    scores += (size_t)row * vocab;
    sums += (size_t)row * slices;
    best += (size_t)row * most_ranked * most_ranked;
    if (slice < slices) {
        Standing at = standing_of(peaks + (size_t)row * slices, slices, slice);
        u64 sum = rank_slice(scores, at, slice, vocab, k, best + at.better * most_ranked);
        if (lane_id() == 0) sums[slice] = sum;
    }
    if (!last_to_arrive(arrived + row, gridDim.x, before) || warp_id() != 0) return;

    constexpr int each = (most_ranked * most_ranked + warp_size - 1) / warp_size;
    u64 keys[each];
    UNROLL for (int j = 0; j < each; j++) {
        int at = j * warp_size + lane_id(), better = at / most_ranked, rank = at % most_ranked;
        keys[j] = better < slices && better + rank < k ? best[at] : 0;
    }
    u64 *out = results + (size_t)row * (2 + k);
    take_best(keys, k, [&](int i, u64 key) {
        if (lane_id() == 0) out[2 + i] = key;
    });
    u64 sum = warp_total(slices, Sums<u64>{sums});
    int own = row < accepted ? drafts[row] : (int)(*verdict & 0xffffffu);
    if (lane_id() == 0) {
        out[0] = sum;
        out[1] = own >= 0 && own < vocab ? key_of(scores[own], own) : 0;
    }
}
EXPORT(rank_rows)

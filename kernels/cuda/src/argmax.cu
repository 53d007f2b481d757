// The best token of every row, and the verdict about a draft at temperature 0.
#include "rank.h"

// peak_rows writes the largest key of every slice to peaks (rows, slices). Grid (⌈slices / warps of
// a block⌉, rows).
extern "C" __global__ void __launch_bounds__(256) peak_rows(const float *scores, u64 *peaks, int vocab) {
    int slices = slices_of(vocab), slice = blockIdx.x * (blockDim.x / warp_size) + warp_id(), row = blockIdx.y;
    if (slice >= slices) return;
    const float *x = scores + (size_t)row * vocab;
    int first = slice * slice_tokens, length = slice_length(vocab, slice);
    u64 most = 0;
    int j = first + lane_id();
    for (; j + (ahead - 1) * warp_size < first + length; j += ahead * warp_size) {
        float score[ahead];
        UNROLL for (int i = 0; i < ahead; i++) score[i] = x[j + i * warp_size];
        UNROLL for (int i = 0; i < ahead; i++) {
            u64 key = key_of(score[i], j + i * warp_size);
            most = key > most ? key : most;
        }
    }
    for (; j < first + length; j += warp_size) {
        u64 key = key_of(x[j], j);
        most = key > most ? key : most;
    }
    most = warp_most(most);
    if (lane_id() == 0) peaks[(size_t)row * slices + slice] = most;
}
EXPORT(peak_rows)

// argmax_rows writes the best id of every row to ids; −1 for a row with NaN or +Inf, or without a
// finite score. Unless feed is null, feed gets the ids for the next step to embed, with 0 instead of
// −1. One warp per row.
extern "C" __global__ void __launch_bounds__(32) argmax_rows(const u64 *peaks, int *ids, int *feed, int vocab) {
    int slices = slices_of(vocab), row = blockIdx.x;
    u64 key = row_peak(peaks + (size_t)row * slices, slices);
    if (lane_id() != 0) return;
    int id = is_best(key) ? id_of(key) : -1;
    ids[row] = id;
    if (feed) feed[row] = id < 0 ? 0 : id;
}
EXPORT(argmax_rows)

// accept_greedy verifies a draft at temperature 0 with the best ids of its drafts+1 rows: it accepts
// all tokens before the first that is not the best. results (drafts+1) gets the draft's ids and then a
// word. Its low 24 bits are the next token, all ones if the row of this token was not finite; its upper 8
// bits are the number of accepted tokens. One thread.
extern "C" __global__ void __launch_bounds__(32) accept_greedy(const int *ids, const int *best, unsigned *results, int drafts) {
    if (threadIdx.x != 0) return;
    int accepted = 0;
    while (accepted < drafts && best[accepted] >= 0 && ids[accepted] == best[accepted]) accepted++;
    for (int i = 0; i < drafts; i++) results[i] = (unsigned)ids[i];
    results[drafts] = ((unsigned)best[accepted] & 0xffffffu) | (unsigned)accepted << 24;
}
EXPORT(accept_greedy)

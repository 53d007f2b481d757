// Which of the best tokens of a row together reach an amount, without sorting the row.
#pragma once
#include "draw.h"

constexpr int most_bins = 1024;

// Amount is a sum of 64 bits in shared memory. It has two words, because a multiprocessor adds only 32 bits at a
// time to shared memory.
struct __align__(8) Amount {
    unsigned low, high;
    INLINE_MEMBER u64 value() const { return (u64)high << 32 | low; }
    INLINE_MEMBER void set(u64 v) { low = (unsigned)v, high = (unsigned)(v >> 32); }
    // add can be called by all threads of a block at the same time.
    INLINE_MEMBER void add(u64 v) {
        unsigned part = (unsigned)v, before = atomicAdd(&low, part);
        unsigned upper = (unsigned)(v >> 32) + (before + part < part);
        if (upper) atomicAdd(&high, upper);
    }
};

// Goal is what amounts have to reach: a share of their sum, at least 1, or with a share of 1 a fixed amount.
struct Goal {
    float share;
    u64 amount;
    INLINE_MEMBER u64 of(u64 sum) const {
        if (share >= 1.0f) return amount;
        u64 part = share_of(share, sum);
        return part ? part : 1;
    }
};

// Reached is the first place at which amounts, added from place 0 on, reach a goal.
struct Reached {
    int at;
    u64 rest;  // what the amounts before this place lack of the goal
};

// reach finds the place in n amounts, whose sum reaches the goal. One warp calls it. A lane adds a run of
// amounts; then the lanes share the run in which the place is.
INLINE Reached reach(const Amount *amounts, int n, Goal goal) {
    int run = (n + warp_size - 1) / warp_size, first = lane_id() * run;
    u64 own = 0;
    int skew = lane_id() % run;  // so that each lane reads another bank
    for (int i = 0; i < run; i++) {
        if (first + skew < n) own += amounts[first + skew].value();
        skew = skew + 1 < run ? skew + 1 : 0;
    }
    u64 upto = running_sum(own), wanted = goal.of(lane_value(upto, warp_size - 1));
    int lane = lowest_bit(__ballot_sync(full_warp, upto >= wanted));
    u64 before = lane_value(upto - own, lane);
    for (int from = lane * run; from < n; from += warp_size) {
        own = from + lane_id() < n ? amounts[from + lane_id()].value() : 0;
        upto = before + running_sum(own);
        unsigned past = __ballot_sync(full_warp, upto >= wanted);
        if (past) {
            lane = lowest_bit(past);
            return {from + lane, wanted - lane_value(upto - own, lane)};
        }
        before = lane_value(upto, warp_size - 1);
    }
    return {n - 1, 0};
}

// block_reach is reach, called by a whole block. place is shared memory.
INLINE Reached block_reach(const Amount *amounts, int n, Goal goal, Reached *place) {
    __syncthreads();  // the amounts are written
    if (warp_id() == 0) {
        Reached found = reach(amounts, n, goal);
        if (lane_id() == 0) *place = found;
    }
    __syncthreads();
    return *place;
}

// each_score calls see with the score and the id of the tokens first … end−1, which the threads of a block
// share.
template <class See> INLINE void each_score(const float *scores, int first, int end, const See &see) {
    constexpr int reads = 4;  // before the first score is used
    for (int j = first + (int)threadIdx.x; j < end; j += reads * (int)blockDim.x) {
        float score[reads];
        UNROLL for (int i = 0; i < reads; i++) {
            int id = j + i * (int)blockDim.x;
            score[i] = scores[id < end ? id : end - 1];
        }
        UNROLL for (int i = 0; i < reads; i++) {
            int id = j + i * (int)blockDim.x;
            if (id < end) see(score[i], id);
        }
    }
}

// sort_keys sorts n keys in shared memory, the largest first; n is a power of two. (Batcher, Sorting
// networks and their applications, 1968)
INLINE void sort_keys(u64 *keys, int n) {
    for (int size = 2; size <= n; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
                int a = 2 * i - (i & (stride - 1)), b = a + stride;
                u64 x = keys[a], y = keys[b];
                if ((x < y) == ((a & size) == 0)) {
                    keys[a] = y;
                    keys[b] = x;
                }
            }
        }
    __syncthreads();
}

// select_key finds the fewest best tokens of a row whose amounts reach a goal, and returns the smallest of
// their keys. It finds the key digit by digit, the highest digit first. Tokens with a key below floor do not
// count. One block calls it, and reads the row once for each digit. amounts (most_bins) and place are shared
// memory.
template <class Measure>
INLINE u64 select_key(const float *scores, int vocab, const Measure &amount, u64 floor, Goal goal, Amount *amounts, Reached *place) {
    constexpr int digits = 7, most_width = 10;
    u64 prefix = 0;
    for (int d = 0; d < digits; d++) {
        int shift = d + 1 < digits ? 64 - (d + 1) * most_width : 0, width = d + 1 < digits ? most_width : 4, bins = 1 << width;
        for (int b = threadIdx.x; b < bins; b += blockDim.x) amounts[b].set(0);
        __syncthreads();
        each_score(scores, 0, vocab, [&](float score, int id) {
            u64 key = key_of(score, id), upto = key >> shift;
            if (key >= floor && (d == 0 || upto >> width == prefix)) amounts[~upto & (bins - 1)].add(amount(score));
        });
        Reached found = block_reach(amounts, bins, goal, place);
        __syncthreads();  // before the amounts are cleared
        prefix = prefix << width | (unsigned)(bins - 1 - found.at);
        goal = {1.0f, found.rest};
    }
    return prefix;
}

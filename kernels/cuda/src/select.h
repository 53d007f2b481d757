// The k best keys of a row, without sorting it.
#pragma once
#include "rank.h"

// each_key calls see with every key of a row, also with 0; the threads of the block share the row.
// tokens has count() keys; the first vocab of them are made from scores.
template <class Tokens, class See> INLINE void each_key(const Tokens &tokens, const See &see) {
    int j = threadIdx.x, step = blockDim.x;
    for (; j + (ahead - 1) * step < tokens.vocab; j += ahead * step) {
        float score[ahead];
        UNROLL for (int i = 0; i < ahead; i++) score[i] = tokens.scores[j + i * step];
        UNROLL for (int i = 0; i < ahead; i++) see(tokens.key(j + i * step, score[i]));
    }
    for (; j < tokens.count(); j += step) see(tokens.key(j));
}

// sort_keys sorts n keys in shared memory, the largest first; n is a power of two. (Batcher, Sorting
// networks and their applications, 1968)
INLINE void sort_keys(u64 *keys, int n) {
    for (int size = 2; size <= n; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
                int a = i / stride * stride * 2 + i % stride, b = a + stride;
                u64 x = keys[a], y = keys[b];
                if ((x < y) == ((a & size) == 0)) {
                    keys[a] = y;
                    keys[b] = x;
                }
            }
        }
    __syncthreads();
}

// floor_key returns a key that at least k tokens reach, and usually few more. Each thread finds the best
// key of its tokens; the result is the k-th best of these. With fewer than k threads it is 1, which all
// tokens reach. Later steps then skip most tokens, and contend less for the bins of a histogram. keys is
// shared, 1024 long. The whole block calls it.
template <class Tokens> INLINE u64 floor_key(const Tokens &tokens, int k, u64 *keys) {
    if (k > (int)blockDim.x) return 1;
    int n = warp_size;
    while (n < (int)blockDim.x) n *= 2;
    for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = 0;
    __syncthreads();
    u64 most = 0;
    each_key(tokens, [&](u64 key) { most = key > most ? key : most; });
    keys[threadIdx.x] = most;
    sort_keys(keys, n);
    u64 floor = keys[k - 1];
    __syncthreads();  // before the keys are written again
    return floor ? floor : 1;
}

// Radix select: finds the smallest of the best keys digit by digit, the highest digit first.

constexpr int most_bins = 2048;

// A key has six digits: three of the score, three of the id.
INLINE int digit_shift(int d) { return d == 0 ? 53 : d == 1 ? 42 : d == 2 ? 32 : d == 3 ? 21 : d == 4 ? 10 : 0; }
INLINE int digit_bits(int d) { return d == 2 || d == 5 ? 10 : 11; }

// Choice is the bin at which the amounts, added from the highest bin down, reach the wanted amount.
template <class Amount> struct Choice {
    int bin;
    Amount wanted;  // what the higher bins lack of the wanted amount
};

// choose_bin finds the bin. One warp calls it. wanted is above 0 and at most the sum of all
// amounts. Each lane has a run of bins, lane 0 the highest.
template <class Amount> INLINE void choose_bin(const Amount *amounts, int bins, Amount wanted, Choice<Amount> *out) {
    int run = bins / warp_size, top = bins - 1 - lane_id() * run;
    u64 own = 0;
    for (int i = 0; i < run; i++) own += amounts[top - (i + lane_id()) % run];  // each lane reads another bank
    u64 upto = own;
    for (int o = 1; o < warp_size; o *= 2) {
        u64 below = __shfl_up_sync(full_warp, upto, o);
        if (lane_id() >= o) upto += below;
    }
    u64 before = upto - own;
    if (before >= wanted || upto < wanted) return;
    for (int i = 0; i < run; i++) {
        u64 next = before + amounts[top - i];
        if (next >= wanted) {
            *out = {top - i, (Amount)(wanted - before)};
            return;
        }
        before = next;
    }
}

// smallest_key returns the smallest key with the prefix that is at least floor and has an amount above 0.
// least is shared. The whole block calls it.
template <class Tokens, class Measure>
INLINE u64 smallest_key(const Tokens &tokens, const Measure &amount, u64 floor, u64 prefix, int shift, u64 *least) {
    if (threadIdx.x == 0) *least = 0;
    __syncthreads();
    each_key(tokens, [&](u64 key) {
        if (key >= floor && key >> shift == prefix && amount(key) != 0) atomicMax(least, ~key);
    });
    __syncthreads();
    return ~*least;
}

// select_key finds the fewest best tokens whose amounts reach wanted, and returns the smallest of
// their keys. wanted is above 0 and at most the sum of all amounts. Tokens with a key below floor
// or an amount of 0 do not count. The whole block calls it. amounts and counts are shared memory,
// most_bins long; one array serves as both if every amount is 1. choice and least are shared, too.
template <class Amount, class Tokens, class Measure>
INLINE u64 select_key(const Tokens &tokens, const Measure &amount, u64 floor, Amount wanted, Amount *amounts, unsigned *counts,
                      Choice<Amount> *choice, u64 *least) {
    bool counting = (void *)amounts == (void *)counts;
    u64 prefix = 0;
    for (int d = 0; d < 6; d++) {
        int shift = digit_shift(d), width = digit_bits(d), bins = 1 << width;
        for (int b = threadIdx.x; b < bins; b += blockDim.x) amounts[b] = counts[b] = 0;
        __syncthreads();
        each_key(tokens, [&](u64 key) {
            if (key < floor || (d > 0 && key >> (shift + width) != prefix)) return;
            Amount mass = amount(key);
            if (mass == 0) return;
            int bin = (int)(key >> shift) & (bins - 1);
            atomicAdd(&amounts[bin], mass);
            if (!counting) atomicAdd(&counts[bin], 1u);
        });
        __syncthreads();
        if (warp_id() == 0) choose_bin(amounts, bins, wanted, choice);
        __syncthreads();
        prefix = prefix << width | (unsigned)choice->bin;
        wanted = choice->wanted;
        bool all = counting ? amounts[choice->bin] == wanted : counts[choice->bin] == 1;
        __syncthreads();  // before the bins are cleared
        if (all) return smallest_key(tokens, amount, floor, prefix, shift, least);
    }
    return prefix;
}

// One is the amount that counts tokens.
struct One {
    INLINE_MEMBER unsigned operator()(u64) const { return 1; }
};

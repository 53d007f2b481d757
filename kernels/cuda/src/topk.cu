// The k best tokens of every row, best first; for equal scores the lower id first. Penalties are
// applied before, and the temperature after. Only the k pairs leave the device. NaN and +Inf come
// first, so the first score tells whether a row is finite.
//
// The three kernels give the same bits. Each has one block per row and needs shared memory for the
// marks of listed tokens: ⌈vocab/32⌉ words if there are penalties, otherwise none. 1 ≤ k ≤ vocab.
// ids and best (rows, k) get the tokens and their scores divided by the temperature.
#include "candidates.h"
#include "filters.h"
#include "select.h"

INLINE void write_pair(const Candidates &c, u64 key, const Filters *filters, int *ids, float *best, size_t at) {
    ids[at] = id_of(key);
    best[at] = divide_rn(c.score(key), filters->filter_temperature);
}

// insert adds the lanes' keys to a warp's list of its 32 best keys; lane i has the i-th best, from
// 0. It returns the new list.
INLINE u64 insert(u64 list, u64 key) {
    u64 worst = __shfl_sync(full_warp, list, warp_size - 1);
    for (;;) {
        unsigned better = __ballot_sync(full_warp, key > worst);
        if (better == 0) return list;
        int from = __popc((better & (0u - better)) - 1);
        u64 fresh = __shfl_sync(full_warp, key, from);
        int place = __popc(__ballot_sync(full_warp, list > fresh));
        u64 above = __shfl_up_sync(full_warp, list, 1);
        list = lane_id() < place ? list : lane_id() == place ? fresh : above;
        if (lane_id() == from) key = 0;
        worst = __shfl_sync(full_warp, list, warp_size - 1);
    }
}

// warp_floor returns a key that at least k ≤ 32 tokens reach, and usually few more: the k-th best
// of the best keys of the warps; 1 with fewer than k warps. bests is shared, 32 long. The whole
// block calls it.
INLINE u64 warp_floor(const Candidates &c, int k, u64 *bests) {
    u64 most = 0;
    each_key(c, [&](u64 key) { most = key > most ? key : most; });
    most = warp_most(most);
    if (lane_id() == 0) bests[warp_id()] = most;
    __syncthreads();
    u64 own = lane_id() < (int)(blockDim.x / warp_size) ? bests[lane_id()] : 0;
    int better = 0;
    for (int i = 0; i < warp_size; i++) better += __shfl_sync(full_warp, own, i) > own;
    unsigned at = __ballot_sync(full_warp, own != 0 && better == k - 1);
    u64 floor = __shfl_sync(full_warp, own, at ? __popc((at & (0u - at)) - 1) : 0);
    return at ? floor : 1;
}

// top_k_warp is for k ≤ 32: each warp keeps a list of the best of its part of the row in registers,
// and the first warp merges the lists.
extern "C" __global__ void __launch_bounds__(1024) top_k_warp(const float *scores, const Filters *filters, const Penalties *penalties,
                                                              const int *listed, const int *counts, const int *length, int most,
                                                              int *ids, float *best, int k, int vocab) {
    SHARED(u64, lists, [32][32]);
    SHARED(u64, bests, [32]);
    DYNAMIC_SHARED(unsigned, marks);
    Candidates c = candidates_of(scores, vocab, penalties, {listed, counts, length, most}, marks);
    int warps = blockDim.x / warp_size;
    u64 list = 0, floor = warp_floor(c, k, bests);
    // All lanes insert together, so a warp continues as long as one lane has a key.
    int step = warps * warp_size, base = warp_id() * warp_size;
    for (; base + (ahead - 1) * step + warp_size <= vocab; base += ahead * step) {
        int j = base + lane_id();
        float score[ahead];
        UNROLL for (int i = 0; i < ahead; i++) score[i] = c.scores[j + i * step];
        UNROLL for (int i = 0; i < ahead; i++) {
            u64 key = c.key(j + i * step, score[i]);
            list = insert(list, key >= floor ? key : 0);
        }
    }
    for (; base < c.count(); base += step) {
        int j = base + lane_id();
        u64 key = j < c.count() ? c.key(j) : 0;
        list = insert(list, key >= floor ? key : 0);
    }
    lists[warp_id()][lane_id()] = list;
    __syncthreads();
    if (warp_id() != 0) return;
    for (int w = 1; w < warps; w++) list = insert(list, lists[w][lane_id()]);
    if (lane_id() < k) write_pair(c, list, filters, ids, best, (size_t)blockIdx.x * k + lane_id());
}
EXPORT(top_k_warp)

// gather collects the keys from cut on, in any order, as many as there is room for, and returns their
// number, which may be larger than room.
INLINE unsigned gather(const Candidates &c, u64 cut, u64 *keys, unsigned room, unsigned *used) {
    if (threadIdx.x == 0) *used = 0;
    __syncthreads();
    each_key(c, [&](u64 key) {
        if (key < cut) return;
        unsigned place = atomicAdd(used, 1u);
        if (place < room) keys[place] = key;
    });
    __syncthreads();
    unsigned n = *used;
    __syncthreads();  // before it is cleared again
    return n;
}

constexpr int block_room = 2048;  // keys

// top_k_block is for k ≤ 1024: keys from the floor on are sorted in shared memory. If they are too
// many, the smallest of the k best keys is selected first.
extern "C" __global__ void __launch_bounds__(1024) top_k_block(const float *scores, const Filters *filters, const Penalties *penalties,
                                                               const int *listed, const int *counts, const int *length, int most,
                                                               int *ids, float *best, int k, int vocab) {
    SHARED(u64, keys, [block_room]);
    SHARED(unsigned, bins, [most_bins]);
    SHARED(Choice<unsigned>, choice, [1]);
    SHARED(unsigned, used, [1]);
    SHARED(u64, least, [1]);
    DYNAMIC_SHARED(unsigned, marks);
    Candidates c = candidates_of(scores, vocab, penalties, {listed, counts, length, most}, marks);
    u64 floor = floor_key(c, k, keys);
    unsigned found = gather(c, floor, keys, block_room, used);
    if (found > block_room) {
        floor = select_key(c, One{}, floor, (unsigned)k, bins, bins, choice, least);
        found = gather(c, floor, keys, block_room, used);
    }
    int n = 1;
    while (n < (int)found) n *= 2;
    for (int i = found + threadIdx.x; i < n; i += blockDim.x) keys[i] = 0;
    sort_keys(keys, n);
    for (int i = threadIdx.x; i < k; i += blockDim.x) write_pair(c, keys[i], filters, ids, best, (size_t)blockIdx.x * k + i);
}
EXPORT(top_k_block)

constexpr int sorters = 256, digit = 16;

// sort_pass moves n keys from one array to another, those with a larger digit first; keys with
// equal digits stay in order. Each of the first sorters threads has a run of keys. starts is
// shared, [digit][sorters].
INLINE void sort_pass(const u64 *from, u64 *to, int n, int shift, unsigned (*starts)[sorters], unsigned *sums) {
    int run = (n + sorters - 1) / sorters, first = threadIdx.x * run, end = first + run < n ? first + run : n, t = threadIdx.x;
    bool sorts = t < sorters;
    if (sorts) {
        for (int d = 0; d < digit; d++) starts[d][t] = 0;
        for (int i = first; i < end; i++) starts[15 - (from[i] >> shift & 15)][t]++;
    }
    __syncthreads();
    // Running sums in the order of the digits; each thread has a run of the counts of one digit.
    unsigned *own = &starts[0][0] + t * digit, sum = 0;
    if (sorts) {
        for (int i = 0; i < digit; i++) sum += own[i];
        sums[t] = sum;
    }
    __syncthreads();
    if (sorts) {
        unsigned before = 0;
        for (int i = 0; i < t; i++) before += sums[i];
        for (int i = 0; i < digit; i++) {
            unsigned here = own[i];
            own[i] = before;
            before += here;
        }
    }
    __syncthreads();
    if (sorts)
        for (int i = first; i < end; i++) to[starts[15 - (from[i] >> shift & 15)][t]++] = from[i];
    __syncthreads();
}

// top_k_radix is for any k: it selects the smallest of the k best keys, and sorts the keys from
// there on digit by digit, through scratch (rows, 2, k). Blocks have at least 256 threads.
extern "C" __global__ void __launch_bounds__(1024) top_k_radix(const float *scores, const Filters *filters, const Penalties *penalties,
                                                               const int *listed, const int *counts, const int *length, int most,
                                                               u64 *scratch, int *ids, float *best, int k, int vocab) {
    SHARED(unsigned, starts, [digit][sorters]);
    SHARED(unsigned, bins, [most_bins]);
    SHARED(unsigned, sums, [sorters]);
    SHARED(Choice<unsigned>, choice, [1]);
    SHARED(unsigned, used, [1]);
    SHARED(u64, least, [1]);
    DYNAMIC_SHARED(unsigned, marks);
    Candidates c = candidates_of(scores, vocab, penalties, {listed, counts, length, most}, marks);
    u64 cut = k < vocab ? select_key(c, One{}, 1, (unsigned)k, bins, bins, choice, least) : 1;
    u64 *from = scratch + (size_t)blockIdx.x * 2 * k, *to = from + k;
    gather(c, cut, from, (unsigned)k, used);
    int shift = 0;
    while (shift < 64) {
        sort_pass(from, to, k, shift, starts, sums);
        u64 *sorted = to;
        to = from;
        from = sorted;
        shift += 4;
        if (shift < 32 && vocab >> shift == 0) shift = 32;  // the rest of every id is the same
    }
    for (int i = threadIdx.x; i < k; i += blockDim.x) write_pair(c, from[i], filters, ids, best, (size_t)blockIdx.x * k + i);
}
EXPORT(top_k_radix)

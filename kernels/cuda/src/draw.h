// Random numbers that the host can reproduce, and drawing from weights.
//
// Weights are float32, their sums are double. A row of weights is added in a fixed tree: each lane of a
// warp adds every 32nd weight of a slice, ascending; running_sum adds the lanes; then the sums of the
// slices are added in the same way. A draw goes down the same tree. So it needs three steps of a warp
// and reads one slice. It never returns a token without weight.
#pragma once
#include "rank.h"

// Round says which uniforms a sequence uses in one round, and describes its draft.
struct Round {
    unsigned seed[2];   // low word first
    unsigned reply, round;
    unsigned certain;   // bit i: draft token i was not drawn; its q is 1
    int drafts;         // tokens of the draft
};

// The uses of random numbers, with the host's numbers.
enum Stream { draft_draw, accept_test, residual_draw, bonus_draw, target_draw };

// uniform returns a number in [0,1) with 53 bits, from Philox4x32-10. (Salmon et al., Parallel random
// numbers: as easy as 1, 2, 3, 2011)
INLINE double uniform(const Round &at, unsigned stream, int position) {
    unsigned c0 = (unsigned)position, c1 = at.round, c2 = stream, c3 = at.reply, k0 = at.seed[0], k1 = at.seed[1];
    for (int i = 0; i < 10; i++) {
        u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
        c0 = (unsigned)(b >> 32) ^ c1 ^ k0;
        c2 = (unsigned)(a >> 32) ^ c3 ^ k1;
        c1 = (unsigned)b;
        c3 = (unsigned)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (double)((u64)(c0 >> 5) << 26 | c1 >> 6) * (1.0 / 9007199254740992.0);
}

INLINE double lane_value(double v, int lane) { return bits_double(__shfl_sync(full_warp, double_bits(v), lane)); }

// running_sum gives lane i the sum of lanes 0 to i.
INLINE double running_sum(double v) {
    for (int o = 1; o < warp_size; o *= 2) {
        double below = bits_double(__shfl_up_sync(full_warp, double_bits(v), o));
        if (lane_id() >= o) v += below;
    }
    return v;
}

template <class Weight> INLINE double lane_sum(int n, const Weight &weight) {
    double sum = 0.0;
    int j = lane_id();
    for (; j + (ahead - 1) * warp_size < n; j += ahead * warp_size) {
        double w[ahead];
        UNROLL for (int i = 0; i < ahead; i++) w[i] = weight(j + i * warp_size);
        UNROLL for (int i = 0; i < ahead; i++) sum += w[i];
    }
    for (; j < n; j += warp_size) sum += weight(j);
    return sum;
}

// warp_total adds n weights; every lane gets the sum.
template <class Weight> INLINE double warp_total(int n, const Weight &weight) {
    return lane_value(running_sum(lane_sum(n, weight)), warp_size - 1);
}

INLINE int lowest_bit(unsigned set) { return __popc((set & (0u - set)) - 1); }

INLINE int highest_bit(unsigned set) {
    for (int o = 1; o < 32; o *= 2) set |= set >> o;
    return __popc(set) - 1;
}

// pick_lane returns the first lane whose running sum exceeds target. If rounding leaves none, it
// returns the last lane with weight; if no lane has weight, −1. It subtracts the weights of earlier
// lanes from target.
INLINE int pick_lane(double weight, double &target) {
    double upto = running_sum(weight);
    double before = bits_double(__shfl_up_sync(full_warp, double_bits(upto), 1));
    if (lane_id() == 0) before = 0.0;
    unsigned any = __ballot_sync(full_warp, weight > 0.0), past = __ballot_sync(full_warp, weight > 0.0 && target < upto);
    if (any == 0) return -1;
    int lane = past ? lowest_bit(past) : highest_bit(any);
    target -= lane_value(before, lane);
    return lane;
}

// warp_pick goes down two levels: to a lane, and to one of the at most 32 weights that this lane added.
// n ≤ 1024. It returns −1 if there is no weight.
template <class Weight> INLINE int warp_pick(int n, const Weight &weight, double &target) {
    int lane = pick_lane(lane_sum(n, weight), target);
    if (lane < 0) return -1;
    int j = lane + warp_size * lane_id();
    return lane + warp_size * pick_lane(j < n ? weight(j) : 0.0, target);
}

// Numbers are weights in memory.
template <class Number> struct Numbers {
    const Number *at;
    INLINE_MEMBER double operator()(int j) const { return (double)at[j]; }
};
typedef Numbers<float> Weights;
typedef Numbers<double> Sums;

// Row is a row of weights with the sums of its slices.
struct Row {
    const float *weights;
    const double *sums;
    int vocab;

    INLINE_MEMBER int slices() const { return slices_of(vocab); }
    // total returns 0 for a row without a best token (is_best), and at least 1 for any other row.
    INLINE_MEMBER double total() const { return warp_total(slices(), Sums{sums}); }
    INLINE_MEMBER int draw(double target) const {
        int slice = warp_pick(slices(), Sums{sums}, target);
        if (slice < 0) return -1;
        int first = slice * slice_tokens;
        return first + warp_pick(slice_length(vocab, slice), Weights{weights + first}, target);
    }
};

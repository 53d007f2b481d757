// Random numbers that the host can reproduce, and drawing from weights.
//
// Weights are float32; their masses (mass.h) are added. Each lane of a warp adds every 32nd mass of a
// slice; running_sum adds the lanes; then the sums of the slices are added in the same way. A draw goes
// down the same tree: one warp adds up the total, picks a slice, and picks a token in it. So it reads the
// weights of one slice. It never returns a token without mass.
#pragma once
#include "mass.h"

// Round says which uniforms a sequence uses in one round, and describes its draft.
struct Round {
    unsigned seed[2];   // low word first
    unsigned reply, round;
    unsigned certain;   // bit i: draft token i was not drawn; its q is 1
    int drafts;         // tokens of the draft
    int written;        // tokens that the reply had before the round
};

// The uses of random numbers, with the host's numbers.
enum Stream { draft_draw, accept_test, residual_draw, bonus_draw, target_draw };

// uniform returns 53 random bits, from Philox4x32-10. Source: Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", 2011.
INLINE u64 uniform(const Round &at, unsigned stream, int position) {
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
    return (u64)(c0 >> 5) << 26 | c1 >> 6;
}

INLINE u64 lane_value(u64 v, int lane) { return __shfl_sync(full_warp, v, lane); }
INLINE Wide lane_value(Wide v, int lane) { return {lane_value(v.high, lane), lane_value(v.low, lane)}; }
INLINE u64 lane_below(u64 v, int distance) { return __shfl_up_sync(full_warp, v, distance); }
INLINE Wide lane_below(Wide v, int distance) { return {lane_below(v.high, distance), lane_below(v.low, distance)}; }

// running_sum gives lane i the sum of lanes 0 to i.
template <class Number> INLINE Number running_sum(Number v) {
    for (int o = 1; o < warp_size; o *= 2) {
        Number below = lane_below(v, o);
        if (lane_id() >= o) v = v + below;
    }
    return v;
}

// A Mass lists masses of a row or of a part of it: those of weights (Weights), of slices (Sums), or of a residual
// (residual.h). Number is the type of a mass and of their sums: u64 or Wide. read(j) reads from memory what mass j
// is made of, and of makes the mass. They are two functions so that a lane can read ahead.
template <class Mass> INLINE typename Mass::Number lane_sum(int n, const Mass &mass) {
    constexpr int each = ahead * 8 / sizeof(typename Mass::Number);  // so that they fit into registers
    typename Mass::Number sum = {};
    int j = lane_id();
    for (; j + (each - 1) * warp_size < n; j += each * warp_size) {
        typename Mass::Read read[each];
        UNROLL for (int i = 0; i < each; i++) read[i] = mass.read(j + i * warp_size);
        UNROLL for (int i = 0; i < each; i++) sum = sum + mass.of(read[i], j + i * warp_size);
    }
    for (; j < n; j += warp_size) sum = sum + mass.of(mass.read(j), j);
    return sum;
}

// warp_total adds n masses; every lane gets the sum.
template <class Mass> INLINE typename Mass::Number warp_total(int n, const Mass &mass) {
    return lane_value(running_sum(lane_sum(n, mass)), warp_size - 1);
}

// pick_lane returns the first lane whose running sum exceeds target, −1 if there is none. It subtracts
// the masses of earlier lanes from target.
template <class Number> INLINE int pick_lane(Number mass, Number &target) {
    Number upto = running_sum(mass);
    unsigned past = __ballot_sync(full_warp, target < upto);
    if (past == 0) return -1;
    int lane = lowest_bit(past);
    target = target - lane_value(upto - mass, lane);
    return lane;
}

// warp_pick goes down two levels: to a lane, and to one of the at most 32 masses that this lane added.
// n ≤ 1024. It returns −1 if the sum of all is not above target.
template <class Mass> INLINE int warp_pick(int n, const Mass &mass, typename Mass::Number &target) {
    int lane = pick_lane(lane_sum(n, mass), target);
    if (lane < 0) return -1;
    int j = lane + warp_size * lane_id();
    typename Mass::Number own = {};
    if (j < n) own = mass.of(mass.read(j), j);
    return lane + warp_size * pick_lane(own, target);
}

// first_past returns the first of n masses up to which the sum is above target, −1 if there is none. It
// subtracts the masses before this one from target.
template <class Mass> INLINE int first_past(int n, const Mass &mass, u64 &target) {
    for (int from = 0; from < n; from += ahead * warp_size) {
        typename Mass::Read read[ahead];
        UNROLL for (int i = 0; i < ahead; i++) {
            int j = from + i * warp_size + lane_id();
            read[i] = mass.read(j < n ? j : n - 1);
        }
        for (int i = 0; i < ahead; i++) {
            int j = from + i * warp_size + lane_id();
            u64 own = j < n ? mass.of(read[i], j) : 0, upto = running_sum(own);
            unsigned past = __ballot_sync(full_warp, target < upto);
            if (past) {
                int lane = lowest_bit(past);
                target -= lane_value(upto - own, lane);
                return from + i * warp_size + lane;
            }
            target -= lane_value(upto, warp_size - 1);
        }
    }
    return -1;
}

struct Weights {
    using Number = u64;
    using Read = float;
    const float *at;
    int unit;
    INLINE_MEMBER float read(int j) const { return at[j]; }
    INLINE_MEMBER u64 of(float weight, int) const { return mass_of(weight, unit); }
};
template <class Sum> struct Sums {
    using Number = Sum;
    using Read = Sum;
    const Sum *at;
    INLINE_MEMBER Sum read(int j) const { return at[j]; }
    INLINE_MEMBER Sum of(Sum sum, int) const { return sum; }
};

// Row is a row of weights with the sums of its slices.
struct Row {
    const float *weights;
    const u64 *sums;
    int vocab;

    INLINE_MEMBER int slices() const { return slices_of(vocab); }
    // mass returns 0 for an id outside the row.
    INLINE_MEMBER u64 mass(int id) const { return id >= 0 && id < vocab ? mass_of(weights[id], unit_of(vocab)) : 0; }
    // total returns 0 for a row without a best token (is_best), and at least the mass of a weight of 1
    // for any other row.
    INLINE_MEMBER u64 total() const { return warp_total(slices(), Sums<u64>{sums}); }
    // draw returns −1 for a row without mass.
    INLINE_MEMBER int draw(u64 target) const {
        int slice = warp_pick(slices(), Sums<u64>{sums}, target);
        if (slice < 0) return -1;
        int first = slice * slice_tokens;
        return first + warp_pick(slice_length(vocab, slice), Weights{weights + first, unit_of(vocab)}, target);
    }
    // draw_by_id is draw with the masses in the order of ids, as the host adds them.
    INLINE_MEMBER int draw_by_id(u64 target) const {
        int slice = first_past(slices(), Sums<u64>{sums}, target);
        if (slice < 0) return -1;
        int first = slice * slice_tokens;
        return first + first_past(slice_length(vocab, slice), Weights{weights + first, unit_of(vocab)}, target);
    }
};

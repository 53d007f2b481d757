// The order of scores as one of whole numbers: a key is larger when its score is larger and, of equal scores, when its id is
// smaller. So the best token is the one with the largest key, k best tokens are those from some key on, and 0 stands for none.
#pragma once
#include "gpu.h"

constexpr unsigned no_score = 0x007fffffu;        // the upper half of the key of −Inf, a masked id
constexpr unsigned infinite_score = 0xff800000u;  // that of +Inf; NaN, of either sign, is above it

// slice_tokens of a row are one warp's work, so where a row is cut depends on nothing.
constexpr int slice_tokens = 1024;

INLINE int slices_of(int vocab) { return (vocab + slice_tokens - 1) / slice_tokens; }
INLINE int slice_length(int vocab, int slice) {
    int left = vocab - slice * slice_tokens;
    return left < slice_tokens ? left : slice_tokens;
}

INLINE u64 key_of(float score, int id) {
    unsigned u = score == 0.0f ? 0 : float_bits(score);  // −0 equals 0
    u = u & 0x80000000u ? ~u : u | 0x80000000u;
    if (score != score) u = 0xffffffffu;
    return (u64)u << 32 | ~(unsigned)id;
}

INLINE int id_of(u64 key) { return (int)~(unsigned)key; }

INLINE float score_of(u64 key) {
    unsigned u = (unsigned)(key >> 32);
    return bits_float(u & 0x80000000u ? u & 0x7fffffffu : ~u);
}

// is_best reports whether the largest key of a row is that of a token: not if the row has a NaN or +Inf, or nothing finite.
INLINE bool is_best(u64 key) {
    unsigned u = (unsigned)(key >> 32);
    return u > no_score && u < infinite_score;
}

// ahead is how many numbers a thread reads before it looks at the first: what a warp has under way decides how fast a row comes.
constexpr int ahead = 8;

INLINE u64 warp_most(u64 key) {
    for (int o = warp_size / 2; o > 0; o /= 2) {
        u64 other = __shfl_xor_sync(full_warp, key, o);
        key = other > key ? other : key;
    }
    return key;
}

// row_peak is the largest key of a row; peaks has that of each of its slices.
INLINE u64 row_peak(const u64 *peaks, int slices) {
    u64 most = 0;
    for (int s = lane_id(); s < slices; s += warp_size) most = peaks[s] > most ? peaks[s] : most;
    return warp_most(most);
}

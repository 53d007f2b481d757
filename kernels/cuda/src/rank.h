// Keys are integers that compare like tokens. A key is larger if its score is larger or, for equal
// scores, if its id is smaller. So the best token has the largest key, and the k best tokens are all
// whose key is at least some key. 0 means no token.
#pragma once
#include "gpu.h"

constexpr unsigned no_score = 0x007fffffu;        // the upper half of the key of −Inf, a masked id
constexpr unsigned infinite_score = 0xff800000u;  // the upper half of the key of +Inf; NaN of either sign is above

// A slice is slice_tokens tokens of a row. One warp finds its largest key and adds its weights, whatever
// the grid is.
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

// is_best reports whether the largest key of a row is a token to choose. It is not if the row has NaN or
// +Inf, or no finite score.
INLINE bool is_best(u64 key) {
    unsigned u = (unsigned)(key >> 32);
    return u > no_score && u < infinite_score;
}

// ahead is how many numbers a thread reads before it uses the first. More reads in flight make
// reading a row faster.
constexpr int ahead = 8;

INLINE u64 warp_most(u64 key) {
    for (int o = warp_size / 2; o > 0; o /= 2) {
        u64 other = __shfl_xor_sync(full_warp, key, o);
        key = other > key ? other : key;
    }
    return key;
}

// row_peak returns the largest key of a row; peaks has the largest key of each slice.
INLINE u64 row_peak(const u64 *peaks, int slices) {
    u64 most = 0;
    for (int s = lane_id(); s < slices; s += warp_size) most = peaks[s] > most ? peaks[s] : most;
    return warp_most(most);
}

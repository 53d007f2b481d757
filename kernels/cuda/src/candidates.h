// The scores of a row after penalties, as keys.
#pragma once
#include "rank.h"

// Penalties lower the scores of tokens that were written lately, in double precision like the host.
struct Penalties {
    double repeat, frequency, presence;
};

// Listed are the tokens with a penalty in each row, each at most once: ids and counts (rows, most),
// length (rows).
struct Listed {
    const int *ids, *counts, *length;
    int most;
};

INLINE float penalised(float score, int count, const Penalties &by) {
    constexpr double largest = 3.4028234663852886e38;
    if (score - score != 0.0f) return score;  // −Inf stays a masked id; NaN and +Inf must stay visible
    double s = score > 0.0f ? (double)score / by.repeat : (double)score * by.repeat;
    s = s - (double)count * by.frequency - by.presence;
    return (float)(s < -largest ? -largest : s > largest ? largest : s);
}

// Candidates are the tokens of a row: first all ids, then the listed tokens with their penalised
// scores. Among the ids a listed token has key 0, and so has a listed id outside the vocabulary.
// The row itself is not changed.
struct Candidates {
    const float *scores;
    int vocab;
    const int *ids, *counts;
    int listed;
    Penalties by;
    const unsigned *marks;  // shared, a bit for each token: listed

    INLINE_MEMBER int count() const { return vocab + listed; }
    INLINE_MEMBER bool marked(int id) const { return listed > 0 && (marks[id >> 5] >> (id & 31) & 1); }
    INLINE_MEMBER u64 key(int j, float score) const { return marked(j) ? 0 : key_of(score, j); }
    INLINE_MEMBER u64 key(int j) const {
        if (j < vocab) return key(j, scores[j]);
        int id = ids[j - vocab];
        if (id < 0 || id >= vocab) return 0;
        return key_of(penalised(scores[id], counts[j - vocab], by), id);
    }
    // score returns the score of a key. It is read from the row, so that even the sign of zero is kept.
    INLINE_MEMBER float score(u64 key) const {
        int id = id_of(key);
        return marked(id) ? score_of(key) : scores[id];
    }
};

// candidates_of returns the candidates of this block's row. marks has ⌈vocab/32⌉ words of shared
// memory, and is not used if by is null. Every thread of the block calls it.
INLINE Candidates candidates_of(const float *scores, int vocab, const Penalties *by, const Listed &list, unsigned *marks) {
    int row = blockIdx.x;
    Candidates c = {scores + (size_t)row * vocab, vocab, list.ids + (size_t)row * list.most, list.counts + (size_t)row * list.most, 0, {}, marks};
    if (by == nullptr) return c;
    c.by = *by;
    c.listed = list.length[row];
    for (int i = threadIdx.x; i < (vocab + 31) / 32; i += blockDim.x) marks[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < c.listed; i += blockDim.x) {
        int id = c.ids[i];
        if (id >= 0 && id < vocab) atomicAdd(&marks[id >> 5], 1u << (id & 31));  // each id occurs once, so adding sets the bit
    }
    __syncthreads();
    return c;
}

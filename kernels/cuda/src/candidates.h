// The scores of a row after penalties, as keys.
#pragma once
#include "rank.h"

// Penalties lower the scores of tokens by how often they were written lately, in double precision as the host does.
struct Penalties {
    double repeat, frequency, presence;
};

// Listed are the tokens that count in each row, each at most once: ids and counts (rows, most), length (rows).
struct Listed {
    const int *ids, *counts, *length;
    int most;
};

INLINE float penalised(float score, int count, const Penalties &by) {
    constexpr double largest = 3.4028234663852886e38;
    if (score - score != 0.0f) return score;  // −Inf stays a masked id; NaN and +Inf have to be seen
    double s = score > 0.0f ? (double)score / by.repeat : (double)score * by.repeat;
    s = s - (double)count * by.frequency - by.presence;
    return (float)(s < -largest ? -largest : s > largest ? largest : s);
}

// Candidates are the tokens of a row: those that no penalty touches by their ids, and behind them the listed ones. In place of a listed
// one among the former, and of one outside the vocabulary among the latter, stands key 0. No row is written.
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
    // score is the number behind a key: copied, so that even the sign of zero is the row's own.
    INLINE_MEMBER float score(u64 key) const {
        int id = id_of(key);
        return marked(id) ? score_of(key) : scores[id];
    }
};

// candidates_of reads the row of this block. marks are ⌈vocab/32⌉ words of shared memory, unused when nothing is listed. by may be null.
// Every thread of the block calls it.
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
        if (id >= 0 && id < vocab) atomicAdd(&marks[id >> 5], 1u << (id & 31));  // each id is there once, so this is or
    }
    __syncthreads();
    return c;
}

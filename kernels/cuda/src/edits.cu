// What changes rows of scores before a token is chosen from them. Guidance changes all scores. Penalties,
// biases and bans change single scores. A mask forbids all tokens but some.
#include "gpu.h"

// guide_rows writes without + scale·(scores − without) to scores, n numbers: classifier-free guidance
// (Sanchez et al., 2023). Each step rounds to float32, as on the host. A score stays if it is −Inf, or if
// its token's score in `without` is.
extern "C" __global__ void __launch_bounds__(256) guide_rows(float *scores, const float *without, float scale, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float with = scores[i], other = without[i];
        if (with != -infinity() && other != -infinity()) scores[i] = other + scale * (with - other);
    }
}
EXPORT(guide_rows)

constexpr int most_drafts = 32;  // as in reject.cu

// Edits say how the rows of a round change. Row i stands after the first i draft tokens. A token is listed
// if it is among the tokens that penalties count before the round, or has a bias, or is banned. Any other
// token changes only after it was drafted.
struct Edits {
    int count;                              // of the list
    float repeat, frequency, presence;      // repeat is 0 without penalties
    int leaving[most_drafts];               // the token that counts once less when draft token i counts; −1: none
};

// Edit is a listed token. The list follows Edits, in ascending order of ids, each id once.
struct Edit {
    int id;
    int count;   // how often the token is counted before the round
    float bias;
    int banned;  // the token is banned in rows 0 … banned−1
};

// Saved is a score as it was before its edit; id is −1 if nothing was edited.
struct Saved {
    int id;
    float score;
};

// limited bounds an edited score to finite numbers. If the score was −Inf, it stays so; NaN stays, too.
INLINE float limited(float was, float score) {
    float largest = bits_float(0x7f7fffffu);
    if (was < -largest) return was;
    return score > largest ? largest : score < -largest ? -largest : score;
}

INLINE float edited(float score, const Edit &edit, const Edits &by, int count, int row) {
    if (edit.bias != 0) score = limited(score, score + edit.bias);
    if (count > 0 && by.repeat > 0) {
        float fewer = score > 0 ? divide_rn(score, by.repeat) : score * by.repeat;
        score = limited(score, fewer - (float)count * by.frequency - by.presence);
    }
    return row < edit.banned ? -infinity() : score;
}

// is_listed reports whether a list in ascending order has the id.
INLINE bool is_listed(const Edit *list, int count, int id) {
    int from = 0, to = count;
    while (from < to) {
        int middle = (from + to) / 2;
        if (list[middle].id < id) from = middle + 1;
        else to = middle;
    }
    return from < count && list[from].id == id;
}

// edit_rows edits row blockIdx.y of scores (rows, vocab), and saves the old scores in saved (rows, most).
// most is at least the number of listed tokens plus the number of draft tokens. draft has the draft
// tokens; an id outside the vocabulary changes nothing.
extern "C" __global__ void __launch_bounds__(256) edit_rows(float *scores, const Edits *edits, const int *draft, Saved *saved, int most,
                                                            int vocab) {
    const Edit *list = (const Edit *)(edits + 1);
    int row = blockIdx.y, listed = edits->count;
    scores += (size_t)row * vocab;
    saved += (size_t)row * most;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < listed + row; i += gridDim.x * blockDim.x) {
        Edit edit = {-1, 0, 0, 0};
        if (i < listed) {
            edit = list[i];
        } else if (!is_listed(list, listed, draft[i - listed])) {
            edit.id = draft[i - listed];
            for (int j = 0; j < i - listed; j++) {
                if (draft[j] == edit.id) edit.id = -1;  // an earlier draft token has this edit
            }
        }
        Saved was = {-1, 0};
        if (edit.id >= 0 && edit.id < vocab) {
            int count = edit.count;
            for (int j = 0; j < row; j++) count += (draft[j] == edit.id) - (edits->leaving[j] == edit.id);
            was = {edit.id, scores[edit.id]};
            scores[edit.id] = edited(was.score, edit, *edits, count, row);
        }
        saved[i] = was;
    }
}
EXPORT(edit_rows)

// restore_rows undoes edit_rows, with the same grid.
extern "C" __global__ void __launch_bounds__(256) restore_rows(float *scores, const Edits *edits, const Saved *saved, int most, int vocab) {
    int row = blockIdx.y, count = edits->count + row;
    scores += (size_t)row * vocab;
    saved += (size_t)row * most;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if (saved[i].id >= 0) scores[saved[i].id] = saved[i].score;
    }
}
EXPORT(restore_rows)

// mask_rows writes the scores of allowed tokens to masked (rows, vocab), and −Inf for all others. allowed has a
// mask for each row: words of 64 tokens, of which a token with a lower id has the lower bit. Grid (any number,
// rows).
extern "C" __global__ void __launch_bounds__(256) mask_rows(const float *scores, const u64 *allowed, float *masked, int vocab) {
    int row = blockIdx.y;
    allowed += (size_t)row * ((vocab + 63) / 64);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vocab; i += gridDim.x * blockDim.x) {
        float score = scores[(size_t)row * vocab + i];
        masked[(size_t)row * vocab + i] = allowed[i / 64] >> (i % 64) & 1 ? score : -infinity();
    }
}
EXPORT(mask_rows)

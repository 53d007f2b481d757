// Speculative sampling: which draft tokens are accepted, and which token follows. (Leviathan et al.
// 2023; Chen et al. 2023)
//
// With p = target mass / total and q = draft mass / total, draft token x is accepted iff u·q < p. After
// the first rejection a token is drawn from the residual max(0, p − q). If the whole draft is accepted,
// the bonus token is drawn from p of the next row. Both sides are multiplied by the totals, so all numbers
// are integers, without a rounding. A rejected token has q > p, so others have p > q: the residual has mass.
#include "arrival.h"
#include "residual.h"
#include "verdict.h"

enum Verdict { accepted, rejected, no_target, no_draft };

// Judged is a draft token with the numbers that decide about it.
struct Judged {
    float p, q;         // for the screen
    u64 target, draft;  // the totals of the target's and of the draft's row
    int verdict;
};

// judge tests one draft token. One warp calls it.
INLINE void judge(Judged &out, const Row &p, const Row &q, int id, bool certain, u64 u) {
    u64 target = p.total(), draft = certain ? 1 : q.total();
    if (lane_id() != 0) return;
    u64 mass = p.mass(id), of_draft = certain ? 1 : q.mass(id);
    out.target = target;
    out.draft = draft;
    out.p = target ? quotient(mass, target) : 0.0f;
    out.q = draft ? quotient(of_draft, draft) : 0.0f;
    if (target == 0) out.verdict = no_target;
    else if (id < 0 || id >= p.vocab || of_draft == 0) out.verdict = no_draft;
    else out.verdict = uniform_share(u, product(of_draft, target)) < product(mass, draft) ? accepted : rejected;
}

// draw_rest draws from the residual; sums has its sums by slice. One warp calls it.
INLINE int draw_rest(Residual rest, const Wide *sums, int vocab, u64 u) {
    int slices = slices_of(vocab);
    Wide target = uniform_share(u, warp_total(slices, Sums<Wide>{sums}));
    int slice = warp_pick(slices, Sums<Wide>{sums}, target);
    if (slice < 0) return -1;
    rest.first = slice * slice_tokens;
    return rest.first + warp_pick(slice_length(vocab, slice), rest, target);
}

// reject verifies the drafts of many sequences. For each sequence p has rows+1 rows of weights, q has rows
// rows, and ids has rows draft tokens; a sequence uses as many as its Round says. q is not read for a certain
// token. A draft ends before a token that has no mass in its row of q or whose id is not in the vocabulary.
//
// results is (sequences, rows+1): the words of verdict.h, and 0 after the draft.
//
// Grid (any number, sequences). Each block of a sequence judges the draft, as that is little work, and adds up
// the residual of some slices. The last block to arrive draws. rest_sums is (sequences, slices). arrived has
// a counter for each sequence, 0 before and after.
extern "C" __global__ void __launch_bounds__(1024) reject(const float *p, const u64 *p_sums, const float *q, const u64 *q_sums,
                                                          const int *ids, const Round *rounds, Wide *rest_sums, unsigned *arrived,
                                                          u64 *results, int rows, int vocab, int draft_vocab) {
    SHARED(Judged, judged, [most_drafts]);
    SHARED(float, before, [1]);
    int sequence = blockIdx.y;
    Round round = rounds[sequence];
    int slices = slices_of(vocab), warps = blockDim.x / warp_size;
    size_t first_p = (size_t)sequence * (rows + 1), first_q = (size_t)sequence * rows;
    Wide *sums = rest_sums + (size_t)sequence * slices;
    for (int i = warp_id(); i < round.drafts; i += warps) {
        Row target = {p + (first_p + i) * vocab, p_sums + (first_p + i) * slices, vocab};
        Row draft = {q + (first_q + i) * draft_vocab, q_sums + (first_q + i) * slices_of(draft_vocab), draft_vocab};
        judge(judged[i], target, draft, ids[first_q + i], round.certain >> i & 1, uniform(round, accept_test, i));
    }
    __syncthreads();
    int kept = 0;
    while (kept < round.drafts && judged[kept].verdict == accepted) kept++;

    Row target = {p + (first_p + kept) * vocab, p_sums + (first_p + kept) * slices, vocab};
    bool replace = kept < round.drafts && judged[kept].verdict == rejected;
    Residual rest = {target.weights, q + (first_q + kept) * draft_vocab, 0, 0, unit_of(vocab), unit_of(draft_vocab), 0, 0, 0,
                     draft_vocab, -1};
    if (replace) {
        rest.p_factor = judged[kept].draft;
        rest.q_factor = judged[kept].target;
        if (round.certain >> kept & 1) {
            rest.certain = ids[first_q + kept];
            rest.q = target.weights;
            rest.draft_vocab = vocab;
        }
        for (int s = (int)blockIdx.x * warps + warp_id(); s < slices; s += (int)gridDim.x * warps) {
            rest.first = s * slice_tokens;
            Wide sum = warp_total(slice_length(vocab, s), rest);
            if (lane_id() == 0) sums[s] = sum;
        }
    }
    if (replace ? !last_to_arrive(arrived + sequence, gridDim.x, before) : blockIdx.x > 0) return;
    if (warp_id() != 0) return;

    u64 total = target.total(), u = uniform(round, replace ? residual_draw : bonus_draw, kept);
    int id = replace ? draw_rest(rest, sums, vocab, u) : target.draw(uniform_share(u, total));
    u64 *out = results + first_p;
    if (lane_id() == 0) {
        float chance = id < 0 ? 0.0f : quotient(target.mass(id), total);
        out[0] = verdict_word(id, kept, chance);
    }
    for (int i = lane_id(); i < rows; i += warp_size) {
        u64 word = 0;
        if (i < round.drafts) word = draft_word(ids[first_q + i], judged[i].p, judged[i].q);
        out[1 + i] = word;
    }
}
EXPORT(reject)

// The rule exact: the target draws a token of its own at each place. A draft token is accepted iff it is the
// same one, and the first draw that differs follows.
//
// Tokens are drawn by uniforms that are numbered by the place in the reply, and from masses in the order of
// ids. So the text is the same whoever drafts, also where the host draws because it has the rows.
#include "draw.h"
#include "verdict.h"

// Own is what the target drew in a row.
struct Own {
    int id;        // −1: the row has no mass
    float chance;  // p of id
    float p, q;    // of the draft token at this place
};

// draw_own draws in a row of the target. One warp calls it.
INLINE void draw_own(Own &out, const Row &p, const Round &round, int i) {
    Round place = round;
    place.round = 0;  // the round depends on what was drafted before
    u64 total = p.total();
    int id = p.draw_by_id(uniform_share(uniform(place, target_draw, round.written + i), total));
    if (lane_id() == 0) out = {id, id < 0 ? 0.0f : quotient(p.mass(id), total), 0.0f, 0.0f};
}

// weigh_draft computes p and q of a draft token, for the screen. One warp calls it.
INLINE void weigh_draft(Own &out, const Row &p, const Row &q, int id, bool certain) {
    u64 target = p.total(), draft = certain ? 1 : q.total();
    if (lane_id() != 0) return;
    u64 mass = certain ? 1 : q.mass(id);
    if (target) out.p = quotient(p.mass(id), target);
    if (draft) out.q = quotient(mass, draft);
}

// match_draws verifies the drafts of many sequences. Arguments and results are those of reject. A token that
// could not be drafted has no id that the target can draw, so a draft ends before it. Grid (sequences); a warp
// draws in one row after the other.
extern "C" __global__ void __launch_bounds__(1024) match_draws(const float *p, const u64 *p_sums, const float *q, const u64 *q_sums,
                                                               const int *ids, const Round *rounds, u64 *results, int rows, int vocab,
                                                               int draft_vocab) {
    SHARED(Own, own, [most_drafts + 1]);
    int sequence = blockIdx.x;
    Round round = rounds[sequence];
    size_t first_p = (size_t)sequence * (rows + 1), first_q = (size_t)sequence * rows;
    for (int i = warp_id(); i <= round.drafts; i += blockDim.x / warp_size) {
        Row target = {p + (first_p + i) * vocab, p_sums + (first_p + i) * slices_of(vocab), vocab};
        draw_own(own[i], target, round, i);
        if (i == round.drafts) break;
        Row draft = {q + (first_q + i) * draft_vocab, q_sums + (first_q + i) * slices_of(draft_vocab), draft_vocab};
        weigh_draft(own[i], target, draft, ids[first_q + i], round.certain >> i & 1);
    }
    __syncthreads();
    if (warp_id() != 0) return;
    int kept = 0;
    while (kept < round.drafts && own[kept].id >= 0 && own[kept].id == ids[first_q + kept]) kept++;
    u64 *out = results + first_p;
    if (lane_id() == 0) out[0] = verdict_word(own[kept].id, kept, own[kept].chance);
    for (int i = lane_id(); i < rows; i += warp_size)
        out[1 + i] = i < round.drafts ? draft_word(ids[first_q + i], own[i].p, own[i].q) : 0;
}
EXPORT(match_draws)

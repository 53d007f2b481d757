// The rule block: a draft is judged as a whole (Sun et al. 2024; engine/spec/block.go has the rule and its
// proof).
//
// In row i let p be mass / target and q mass / draft, where both totals are shifted to lie from 2^62 to 2^63.
// The weight w of the tokens before the row is an integer W in units of 2^-63, and a is draft · W / 2^63,
// rounded down. From here on w is a / draft. So all of the rule is in integers:
//
//     residual of a token    max(0, mass of p · a − mass of q · target); R is their sum
//     the block may end here iff u · (R + (draft − a) · target) < R, at the end of the draft iff u < w
//     W of the next row      2^63 · (p's mass of the draft token · a) / (q's mass of it · target), at most 2^63
//
// Only a and the last quotient are rounded, both down. So in each row w is less than 2^-61 too small, and all else
// is exact but for the 53 bits of u.
#include "arrival.h"
#include "residual.h"
#include "verdict.h"

constexpr u64 one = 1ull << 63;  // the weight 1

INLINE int highest_bit_of(u64 v) { return v >> 32 ? 32 + highest_bit((unsigned)(v >> 32)) : highest_bit((unsigned)v); }

// ratio returns 2^63 · a / b, rounded down, for a < b < 2^127.
INLINE u64 ratio(Wide a, Wide b) {
    u64 bits = 0;
    for (int i = 0; i < 63; i++) {
        a = a + a;
        bits <<= 1;
        if (!(a < b)) {
            a = a - b;
            bits |= 1;
        }
    }
    return bits;
}

INLINE float float_of(Wide v) { return (float)v.high * 18446744073709551616.0f + (float)v.low; }

// Place is a row with the draft token that was drawn for it.
struct Place {
    float p, q;                 // of the token, for the screen
    bool ends;                  // the draft ends before the token
    int target_shift, draft_shift;
    u64 target, draft;          // the shifted totals
    u64 mass, of_draft;         // shifted masses of the token
    u64 part;                   // a
};

// look reads what the rule needs of a row. One warp calls it.
INLINE void look(Place &out, const Row &p, const Row &q, int id, bool certain) {
    u64 target = p.total(), draft = certain ? 1 : q.total();
    if (lane_id() != 0) return;
    u64 mass = p.mass(id), of_draft = certain ? 1 : q.mass(id);
    out.p = target ? quotient(mass, target) : 0.0f;
    out.q = draft ? quotient(of_draft, draft) : 0.0f;
    out.ends = target == 0 || id < 0 || id >= p.vocab || of_draft == 0;
    if (out.ends) return;
    out.target_shift = 62 - highest_bit_of(target);
    out.draft_shift = 62 - highest_bit_of(draft);
    out.target = target << out.target_shift;
    out.draft = draft << out.draft_shift;
    out.mass = mass << out.target_shift;
    out.of_draft = of_draft << out.draft_shift;
}

// weigh computes the weights before each token of a draft and after the last, and returns how many tokens the
// draft has. One thread calls it.
INLINE int weigh(Place *places, u64 *weights, int drafts) {
    u64 w = one;
    int n = 0;
    for (; n < drafts && !places[n].ends; n++) {
        Place &at = places[n];
        weights[n] = w;
        Wide part = product(at.draft, w);
        at.part = part.high << 1 | part.low >> 63;
        Wide target = product(at.mass, at.part), draft = product(at.of_draft, at.target);
        w = target < draft ? ratio(target, draft) : one;
    }
    weights[n] = w;
    return n;
}

// residual_of returns the residual of a row's first slice: the caller sets another slice.
INLINE Residual residual_of(const Place &at, const float *p, const float *q, int vocab, int draft_vocab, int id, bool certain) {
    if (certain) return {p, p, at.part, at.target, unit_of(vocab), 0, at.target_shift, 0, 0, vocab, id};
    return {p, q, at.part, at.target, unit_of(vocab), unit_of(draft_vocab), at.target_shift, at.draft_shift, 0, draft_vocab, -1};
}

// End is whether the block may end after a draft token, and the chance of it (h of the rule), −1 where no block
// can end.
struct End {
    bool passed;
    float chance;
};

// end_after tests token i of a draft of n tokens. rest has R of each row.
INLINE End end_after(int i, int n, const Place *places, const u64 *weights, const Wide *rest, u64 u) {
    if (i >= n || weights[i] == 0) return {false, -1.0f};
    if (i + 1 == n) return {u << (63 - uniform_bits) < weights[n], (float)weights[n] * bits_float(0x20000000u)};
    const Place &next = places[i + 1];
    Wide all = rest[i + 1] + product(next.draft - next.part, next.target);
    float mass = float_of(rest[i + 1]);
    return {uniform_share(u, all) < rest[i + 1], mass > 0.0f ? divide_rn(mass, float_of(all)) : 0.0f};
}

// judge_blocks verifies the drafts of many sequences. Arguments and results are those of reject, but rest_sums
// is (sequences, rows, slices), and bounds (sequences, rows) gets End.chance of each draft token. Grid (any
// number, any number, sequences). Each block weighs the draft and adds up the residuals of some slices of some
// rows. The last block to arrive decides and draws.
extern "C" __global__ void __launch_bounds__(256) judge_blocks(const float *p, const u64 *p_sums, const float *q, const u64 *q_sums,
                                                               const int *ids, const Round *rounds, Wide *rest_sums, unsigned *arrived,
                                                               u64 *results, float *bounds, int rows, int vocab, int draft_vocab) {
    SHARED(Place, places, [most_drafts]);
    SHARED(u64, weights, [most_drafts + 1]);
    SHARED(Wide, rest, [most_drafts]);
    SHARED(int, length, [1]);
    SHARED(float, before, [1]);
    int sequence = blockIdx.z;
    Round round = rounds[sequence];
    int slices = slices_of(vocab), warps = blockDim.x / warp_size;
    size_t first_p = (size_t)sequence * (rows + 1), first_q = (size_t)sequence * rows;
    rest_sums += first_q * slices;
    for (int i = warp_id(); i < round.drafts; i += warps) {
        Row target = {p + (first_p + i) * vocab, p_sums + (first_p + i) * slices, vocab};
        Row draft = {q + (first_q + i) * draft_vocab, q_sums + (first_q + i) * slices_of(draft_vocab), draft_vocab};
        look(places[i], target, draft, ids[first_q + i], round.certain >> i & 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) length[0] = weigh(places, weights, round.drafts);
    __syncthreads();
    int n = length[0];
    auto residual = [&](int i) {
        return residual_of(places[i], p + (first_p + i) * vocab, q + (first_q + i) * draft_vocab, vocab, draft_vocab,
                           ids[first_q + i], round.certain >> i & 1);
    };
    for (int i = blockIdx.y; i < n; i += gridDim.y) {
        Residual of = residual(i);
        for (int s = (int)blockIdx.x * warps + warp_id(); s < slices; s += (int)gridDim.x * warps) {
            of.first = s * slice_tokens;
            Wide sum = warp_total(slice_length(vocab, s), of);
            if (lane_id() == 0) rest_sums[(size_t)i * slices + s] = sum;
        }
    }
    if (!last_to_arrive(arrived + sequence, gridDim.x * gridDim.y, before)) return;
    for (int i = warp_id(); i < n; i += warps) {
        Wide sum = warp_total(slices, Sums<Wide>{rest_sums + (size_t)i * slices});
        if (lane_id() == 0) rest[i] = sum;
    }
    __syncthreads();
    if (warp_id() != 0) return;

    End end = end_after(lane_id(), n, places, weights, rest, uniform(round, accept_test, lane_id()));
    unsigned ends = __ballot_sync(full_warp, end.passed);
    int kept = ends ? highest_bit(ends) + 1 : 0;
    Row target = {p + (first_p + kept) * vocab, p_sums + (first_p + kept) * slices, vocab};
    u64 total = target.total(), u = uniform(round, kept < n ? residual_draw : bonus_draw, kept);
    int id;
    if (kept < n) {
        const Wide *sums = rest_sums + (size_t)kept * slices;
        Wide at = uniform_share(u, rest[kept]);
        int slice = warp_pick(slices, Sums<Wide>{sums}, at);
        Residual of = residual(kept);
        of.first = slice * slice_tokens;
        id = of.first + warp_pick(slice_length(vocab, slice), of, at);
    } else {
        id = target.draw(uniform_share(u, total));
    }
    u64 *out = results + first_p;
    float chance = id < 0 ? 0.0f : quotient(target.mass(id), total);
    if (lane_id() == 0) out[0] = verdict_word(id, kept, chance);
    for (int i = lane_id(); i < rows; i += warp_size) {
        out[1 + i] = i < round.drafts ? draft_word(ids[first_q + i], places[i].p, places[i].q) : 0;
        bounds[first_q + i] = end.chance;
    }
}
EXPORT(judge_blocks)

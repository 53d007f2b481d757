// The residual max(0, p − q) in integers, from which the token in place of a refused one is drawn.
#pragma once
#include "draw.h"

// Residual is the Mass (draw.h) of the residual of one slice: for each token
// max(0, (mass of p)·p_factor − (mass of q)·q_factor), where both masses are first shifted left. If certain ≥ 0, the draft is one-hot: its q is 1 for
// the token certain, whose residual is 0, and 0 for all others.
struct Residual {
    using Number = Wide;
    struct Read {
        float p, q;
    };
    const float *p, *q;  // the rows of weights; for a one-hot draft both are the target's
    u64 p_factor, q_factor;
    int p_unit, q_unit, p_shift, q_shift;
    int first;  // the first token of the slice
    int draft_vocab, certain;

    INLINE_MEMBER Read read(int j) const {
        int id = first + j;
        Read read = {p[id], q[id < draft_vocab ? id : draft_vocab - 1]};
        read_now(read.p);
        read_now(read.q);
        return read;
    }
    INLINE_MEMBER Wide of(Read at, int j) const {
        int id = first + j;
        u64 of_p = id == certain ? 0 : mass_of(at.p, p_unit) << p_shift;
        u64 of_q = id < draft_vocab && certain < 0 ? mass_of(at.q, q_unit) << q_shift : 0;
        Wide rest = product(of_p, p_factor), less = product(of_q, q_factor);
        return less < rest ? rest - less : Wide{0, 0};
    }
};

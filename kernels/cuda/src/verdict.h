// The words in which a verdict about a sampled draft goes to the host: one for the verdict, and one for each
// draft token.
#pragma once
#include "gpu.h"

constexpr int most_drafts = 32;

// verdict_word has, from the lowest bit up, the next token (24 bits; all ones if the target's row has no
// mass), the number of accepted tokens (8 bits), and p of the next token (float32).
INLINE u64 verdict_word(int next, int kept, float p) {
    return (u64)float_bits(p) << 32 | (unsigned)kept << 24 | ((unsigned)next & 0xffffffu);
}

// short_float rounds a number ≥ 0 to 20 bits: 8 of the exponent and 12 of the fraction.
INLINE u64 short_float(float v) { return (float_bits(v) + 0x400u) >> 11; }

// draft_word has a draft token: its id (24 bits), p and q (20 bits each, see short_float).
INLINE u64 draft_word(int id, float p, float q) {
    return short_float(q) << 44 | short_float(p) << 24 | ((unsigned)id & 0xffffffu);
}

// The integers that stand for weights when they are added and compared (ref/gpu_mass.go).
//
// A graphics card for games does two operations of double precision in the time of 64 with integers. And
// sums of integers are exact, so they do not depend on the order in which threads add.
#pragma once
#include "rank.h"

// Wide is an integer of 128 bits.
struct Wide {
    u64 high, low;
};
INLINE Wide operator+(Wide a, Wide b) {
    u64 low = a.low + b.low;
    return {a.high + b.high + (low < b.low ? 1u : 0u), low};
}
INLINE Wide operator-(Wide a, Wide b) { return {a.high - b.high - (a.low < b.low ? 1u : 0u), a.low - b.low}; }
INLINE bool operator<(Wide a, Wide b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }
INLINE Wide product(u64 a, u64 b) { return {multiply_high(a, b), a * b}; }

// A number ≥ 0 is mantissa · 2^exponent. Subnormal numbers become some number below 2^-125.
INLINE u64 mantissa_of(float v) { return (float_bits(v) & 0x7fffffu) | 0x800000u; }
INLINE int exponent_of(float v) { return (int)(float_bits(v) >> 23) - 150; }

// mass_of returns a weight, which is at most 1, in units of 2^-unit, rounded down. It has no branch, so that
// the reads of several weights stay together.
INLINE u64 mass_of(float weight, int unit) {
    int shift = exponent_of(weight) + unit, left = shift > 0 ? shift : 0, right = shift > -24 ? left - shift : 24;
    return mantissa_of(weight) << left >> right;
}

INLINE int lowest_bit(unsigned set) { return __popc((set & (0u - set)) - 1); }

INLINE int highest_bit(unsigned set) {
    for (int o = 1; o < 32; o *= 2) set |= set >> o;
    return __popc(set) - 1;
}

// unit_of returns the unit of the masses of a row: the finest with which vocab weights of 1 have a sum
// below 2^63.
INLINE int unit_of(int vocab) { return 62 - highest_bit((unsigned)vocab); }

// share_of returns share · all, rounded down. share is below 1.
INLINE u64 share_of(float share, u64 all) {
    Wide x = product(mantissa_of(share), all);
    int down = -exponent_of(share);
    if (down < 64) return x.high << (64 - down) | x.low >> down;
    return down < 128 ? x.high >> (down - 64) : 0;
}

// A uniform u stands for u / 2^uniform_bits. uniform_share returns total · u / 2^uniform_bits, rounded
// down: less than total, if total is not 0. total is below 2^127.
constexpr int uniform_bits = 53;

INLINE Wide uniform_share(u64 u, Wide total) {
    Wide low = product(u, total.low), high = product(u, total.high);
    u64 middle = low.high + high.low, top = high.high + (middle < low.high ? 1u : 0u);
    return {top << (64 - uniform_bits) | middle >> uniform_bits, middle << (64 - uniform_bits) | low.low >> uniform_bits};
}
INLINE u64 uniform_share(u64 u, u64 total) { return uniform_share(u, Wide{0, total}).low; }

// quotient divides integers, for numbers that are only shown.
INLINE float quotient(u64 mass, u64 total) { return divide_rn((float)mass, (float)total); }

// How quants of 2, 3, 4, 5 or 8 bits lie in a slab of 16 rows, and become the signed bytes that tensor cores
// multiply. Those of 6 bits are in matmul_integer.cu.
//
// The low bits of a slab's quants form one plane, and the high bits, if any, the next. In a plane of b bits, 512
// bytes hold 8/b blocks of 32 columns: lane (g, t) has 16 bytes, for columns 4t … 4t+3 of row g and of row g+8,
// then for columns 4t+16 … 4t+19 of row g and of row g+8. Each byte has the bits of one row and column of
// each of these blocks; the first block has the lowest. If a slab has only half as many blocks, a lane has 8
// bytes: words 0 and 1 of the four share one word, in the low and high halves of its bytes; so do words 2
// and 3.
#pragma once
#include "integer.h"

// Of the bits that a lane reads, Part has those that only one part of a slab needs, and Common those that several
// need. is_signed: a quant is a number in two's complement. It becomes the top bits of a byte, which multiplies
// it by 1/unit.
template <int slab_columns, int low, int high, bool is_signed> struct Quants {
    static constexpr int columns = slab_columns, bits = low + high;
    static constexpr int low_bytes = columns * tile_rows * low / 8, bytes = columns * tile_rows * bits / 8;
    static constexpr int up = is_signed ? 8 - bits : 0;  // where a quant begins in its byte
    static constexpr float unit = 1.0f / (1 << up);
    static constexpr bool halved = high * columns < 256;  // a lane has 8 bytes of high bits
    static_assert((low == 8 && high == 0) || ((low == 4 || low == 2) && high <= 1), "no planes of so many bits");

    struct Part { uint4 low_bits[low / 4 + (low == 2)]; };
    struct Common { uint4 low_bits[2], high_bits; };  // low_bits: of two bits each, which two parts share

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        if (low == 2)
            UNROLL for (int i = 0; i < columns / 128; i++) common.low_bits[i] = load16(w + (i * 512 + lane * 16));
        if (high == 0) return;
        if (halved) {
            uint2 bits = load8(w + (low_bytes + lane * 8));
            common.high_bits = {bits.x, bits.y, 0, 0};
        } else {
            common.high_bits = load16(w + (low_bytes + lane * 16));
        }
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) {
        UNROLL for (int i = 0; i < low / 4; i++) part.low_bits[i] = load16(w + ((number * (low / 4) + i) * 512 + lane * 16));
    }
    INLINE void unpack(unsigned (&quants)[2][4], const Part &part, const Common &common, int number) {
        UNROLL for (int block = 0; block < 2; block++)
            UNROLL for (int i = 0; i < 4; i++) {
                if (low == 8) {
                    quants[block][i] = word_of(part.low_bits[block * (low / 8)], i);
                    continue;
                }
                unsigned word;
                if (low == 4) {
                    const unsigned pair = word_of(part.low_bits[0], i);
                    word = (block == 0 ? pair << up : up == 4 ? pair : pair >> (4 - up)) & 0x0f0f0f0fu << up;
                } else {
                    word = (word_of(number < 2 ? common.low_bits[0] : common.low_bits[1], i) >> (number % 2 * 4 + block * 2) & 0x03030303u) << up;
                }
                if (high) word |= (high_word(common, i) >> high_bit(2 * number + block, i) & 0x01010101u) << (up + low);
                quants[block][i] = word;
            }
    }
    INLINE unsigned high_word(const Common &common, int i) { return word_of(common.high_bits, halved ? i / 2 : i); }
    INLINE int high_bit(int block, int i) { return halved ? block + i % 2 * 4 : block; }

    // at returns one quant.
    INLINE int at(const Element &p) {
        if (low == 8) return (signed char)p.slab[p.block * 512 + p.byte];
        constexpr int sharing = 8 / low;  // blocks that share a byte
        unsigned quant = p.slab[p.block / sharing * 512 + p.byte] >> p.block % sharing * low & ((1 << low) - 1);
        if (high) {
            int word = p.byte / 4 % 4, byte = halved ? p.byte / 16 * 8 + word / 2 * 4 + p.byte % 4 : p.byte;
            quant |= (p.slab[low_bytes + byte] >> high_bit(p.block, word) & 1u) << low;
        }
        return is_signed ? (int)(quant << (32 - bits)) >> (32 - bits) : (int)quant;
    }
};

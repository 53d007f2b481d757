// The layout of activations for products: the order in which tensor cores read them.
//
// Rows form groups of 8, the width of a tile, and columns form slabs of 128. A group is a header and
// then its slabs. Rows after the last may hold anything: they are multiplied too, but affect no other
// row and are never stored. Columns after the last, up to the end of the slab, are zeros.
//
// The kernels round_… and quantise_rows convert float32 rows to this layout. Kernels whose result only
// products read can write this layout directly (operand.h), except in half precision. A product that
// normalises a row itself has it in shared memory, in a group of that one row (norm.h).
#pragma once
#include "gpu.h"

constexpr int group_rows = 8, slab_columns = 128;

constexpr int tile_rows = 16;  // of the weights, and so columns of the result
INLINE int tiles_of(int n) { return (n + tile_rows - 1) / tile_rows; }

// Float activations: numbers in bfloat16 or half precision.
//   header    half precision only: 8 float32, one per row: the power of two to multiply the result
//             by; the rest of its 128 bytes is not used
//   slab      4 parts of 32 columns; a part has 512 bytes: lane (g, t), number 4g + t, has 16 bytes,
//             for row g the columns 2t, 2t+1, 2t+8, 2t+9, 2t+16, 2t+17, 2t+24, 2t+25
template <bool is_half, int rows = group_rows> struct FloatActivations {
    static constexpr int header_bytes = is_half ? 128 : 0;
    static constexpr int part_bytes = 64 * rows, slab_bytes = 4 * part_bytes;

    // pair_offset returns the offset of columns 2·pair and 2·pair+1 of a row.
    INLINE size_t pair_offset(int row, int pair, int slabs) {
        int group = row / rows, g = row % rows, slab = pair / 64, part = pair / 16 % 4, step = pair / 8 % 2;
        return (size_t)group * (header_bytes + (size_t)slabs * slab_bytes) + header_bytes + (size_t)slab * slab_bytes +
            part * part_bytes + (g * 4 + pair % 4) * 16 + step * 8 + pair / 4 % 2 * 4;
    }
};

// Integer activations: blocks of 32 columns as signed bytes with one scale, quantised by the rule of
// ref.QuantizeRow.
//   slab      quants: 2 parts of 64 columns, 512 bytes each: lane (g, t) has 16 bytes, for row g the
//             columns 4t … 4t+3 and 4t+16 … 4t+19 of the first block, and then of the second
//             factors: for each of 4 blocks, for each of 8 rows: scale and scale · sum of the quants,
//             float32
template <int rows> struct IntegerLayout {
    static constexpr int header_bytes = 0;
    static constexpr int quant_bytes = rows * slab_columns;
    static constexpr int slab_bytes = quant_bytes + 4 * rows * 8;

    INLINE size_t slab_offset(int row, int slab, int slabs) { return ((size_t)(row / rows) * slabs + slab) * slab_bytes; }
    // four_offset returns the offset, in a slab, of the quants of columns 4·four … 4·four+3.
    INLINE int four_offset(int row, int four) {
        return four / 16 * (64 * rows) + (row % rows * 4 + four % 4) * 16 + four / 8 % 2 * 8 + four / 4 % 2 * 4;
    }
    INLINE int factors_offset(int row, int block) { return quant_bytes + (block * rows + row % rows) * 8; }
};
using IntegerActivations = IntegerLayout<group_rows>;

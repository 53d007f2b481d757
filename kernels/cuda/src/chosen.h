// Products of rows with the matrices of the experts that they chose (experts.cu). The bits are those of
// multiply_rows for each row alone.
#pragma once
#include "matmul.h"

// A matrix of a mixture has the matrices of all experts, one after the other, each in whole tiles. A choice
// is a row with one of its experts, and its slot is row · used + rank: its row in the result. Group gives a
// block its work: up to 8 slots of one expert; slots that do not exist are −1.
struct Group {
    int expert;
    int slots[group_rows];
};
struct Groups {
    const int *count;
    const Group *list;
    int used;  // slots of a row of x: the experts of a row, or 1 if x has a row for each slot
};

// Chosen says where a lane finds the rows of x that belong to the slots of a group.
template <class Format> struct Chosen {
    const unsigned char *own;         // where this lane's numbers of row g of the group begin; null: no row
    const unsigned char *factors[2];  // where the factors of rows 2t and 2t+1 begin; null: no row

    INLINE_MEMBER Chosen(const Product &p, const Group &group, int used) {
        const int g = lane_id() / 4, t = lane_id() % 4;
        own = row_of(p, group.slots[g], used, 16 * 4);
        own = own ? own + 16 * t : own;
        UNROLL for (int e = 0; e < 2; e++) factors[e] = row_of(p, group.slots[2 * t + e], used, Format::factor_bytes);
    }
    // row_of returns where the row of a slot lies in the first slab, if each row has `bytes` bytes.
    INLINE_MEMBER const unsigned char *row_of(const Product &p, int slot, int used, int bytes) {
        if (slot < 0) return 0;
        const int row = slot / used;
        return p.x + row / group_rows * group_bytes<Format>(p) + Format::Activations::header_bytes + row % group_rows * bytes;
    }
    INLINE_MEMBER size_t place(int slab) const { return (size_t)slab * activation_bytes<Format>(); }
    INLINE_MEMBER void load(typename Format::X &rows, size_t at, int, int part, int) const {
        if (own) Format::load_x(rows, Cached{own} + at, part, 0);
        UNROLL for (int e = 0; e < 2; e++)
            if (factors[e]) Format::load_factor(rows, Cached{factors[e]} + at, part, e);
    }
};

// multiply_chosen: block (b, i) computes tile b of the expert of group i, for the rows of the group's slots.
// y of each Output is (slots, n). Blocks after the last group do nothing.
template <class Format> INLINE void multiply_chosen(const Product &p, const Groups &groups) {
    DYNAMIC_SHARED(float, partial);
    if ((int)blockIdx.y >= *groups.count) return;
    const Group &group = groups.list[blockIdx.y];
    int tile = blockIdx.x;
    const Output output = output_of<1>(p, tile);
    const size_t place = (size_t)group.expert * tiles_of(output.n) + tile;
    sum_ranges<Format, 1>(partial, p, output, output.weights + place * p.slabs * Format::slab_bytes, Chosen<Format>(p, group, groups.used));
    for (int i = threadIdx.x; i < group_rows * tile_rows; i += blockDim.x) {
        float total = total_of<1>(partial, output.ranges, i);
        int slot = group.slots[i / tile_rows], n = tile * tile_rows + i % tile_rows;
        if (slot >= 0 && n < output.n) output.y[(size_t)slot * output.n + n] = finish<Format>(p, total, slot / groups.used);
    }
}

// EXPERTS exports the product of a format; grid (tiles of all Outputs, most groups).
#define EXPERTS(name, Format)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(32 * Format::most_ranges, Format::resident)                                      \
        name##_experts(MATMUL_PARAMETERS, const int *count, const Group *groups, int used) {                                      \
        multiply_chosen<Format>(MATMUL_PRODUCT, {count, groups, used});                                                         \
    }                                                                                                                             \
    EXPORT(name##_experts)

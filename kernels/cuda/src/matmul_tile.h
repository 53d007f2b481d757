// Products with many rows of x: see matmul.h.
#pragma once
#include "product.h"

// multiply_tile: block (i, j) multiplies the rows of x from 8·block_groups·i on with the j'th eight tiles
// of w, all of one Output. Each of its eight warps has 2 tiles of w and half of the groups of x. A stage
// of shared memory holds a slab of all these tiles and groups, or a piece of it. While one stage is
// multiplied, the next ones are copied. A warp of 16-bit formats loads its next part from shared memory while
// it multiplies, also across stages, so tensor cores wait neither for copies nor for loads. All stages fit into
// 99 KiB, which a block may use on every GPU that runs these kernels.
constexpr int block_tiles = 8, warp_tiles = 2, tile_warps = 8;

template <class Format> struct Tile {
    static constexpr int warp_groups = Format::block_groups / 2, parts = Format::parts / Format::pieces;
    static constexpr int w_bytes = Format::slab_bytes / Format::pieces, x_bytes = activation_bytes<Format>() / Format::pieces;
    static constexpr int stage_bytes = block_tiles * w_bytes + Format::block_groups * x_bytes;
    static_assert(!Format::ahead || parts > 1, "a stage is copied over while its only part is still loaded");
    static_assert(Format::stages * stage_bytes <= 99 << 10, "the stages do not fit");
};

// A Copier copies the pieces of `count` tiles or groups to stages. Each warp copies the same tiles or groups
// every time, so the constructor computes where they lie. For those that do not exist the last one is copied;
// their results are not stored.
template <int bytes, int count> struct Copier {
    static constexpr int each = count / tile_warps, step = 16 * warp_size;
    const unsigned char *from[each];
    int to;

    INLINE_MEMBER Copier(const unsigned char *first, size_t stride, int last) : to(warp_id() * bytes + lane_id() * 16) {
        UNROLL for (int i = 0; i < each; i++) {
            int number = warp_id() + i * tile_warps;
            from[i] = first + (number < last ? number : last) * stride + lane_id() * 16;
        }
    }
    INLINE_MEMBER void copy(Staged stage, int piece) const {
        UNROLL for (int i = 0; i < each; i++)
            UNROLL for (int at = 0; at < bytes; at += step)
                if (at + step <= bytes || at + lane_id() * 16 < bytes)
                    copy_async((stage + to + (i * tile_warps * bytes + at)).at, from[i] + (size_t)piece * bytes + at);
    }
};

// Copies copy a piece of the slabs of all tiles and groups of a block to a stage, in the background.
template <class Format> struct Copies {
    using T = Tile<Format>;
    Copier<T::w_bytes, block_tiles> w;
    Copier<T::x_bytes, Format::block_groups> x;

    INLINE_MEMBER Copies(const Product &p, const Output &output, int tile, int group)
        : w(output.weights + (size_t)tile * p.slabs * Format::slab_bytes, (size_t)p.slabs * Format::slab_bytes, tiles_of(output.n) - 1 - tile),
          x(p.x + group * group_bytes<Format>(p) + Format::Activations::header_bytes, group_bytes<Format>(p), (p.m - 1) / group_rows - group) {}
    INLINE_MEMBER void copy(Staged stage, int piece) const {
        w.copy(stage, piece);
        x.copy(stage + block_tiles * T::w_bytes, piece);
    }
};

// Held is what a lane has loaded of a part: of its warp's tiles of w and groups of x.
template <class Format> struct Held {
    using T = Tile<Format>;
    typename Format::Common common[warp_tiles];
    typename Format::Part w[warp_tiles];
    typename Format::X x[T::warp_groups];

    INLINE_MEMBER void load_w(Staged stage, int part) {
        const int lane = lane_id();
        stage = stage + warp_id() % 4 * warp_tiles * T::w_bytes;
        UNROLL for (int i = 0; i < warp_tiles; i++) {
            if (part == 0) Format::load_common(common[i], stage + i * T::w_bytes, lane);
            Format::load_part(w[i], stage + i * T::w_bytes, part, lane);
        }
    }
    INLINE_MEMBER void load_x(Staged stage, int part, int j) {
        const int lane = lane_id();
        stage = stage + (block_tiles * T::w_bytes + (warp_id() / 4 * T::warp_groups + j) * T::x_bytes);
        Format::load_x(x[j], stage, part, lane);
        Format::load_factors(x[j], stage, part, lane);
    }
};

// multiply_part adds the products of a part to the sums of a warp. Formats that load ahead hold the part
// already; as soon as numbers are used, those of the next part replace them.
template <class Format>
INLINE void multiply_part(float (&sum)[warp_tiles][Tile<Format>::warp_groups][4], Held<Format> &held, Staged stage, int part, Staged next_stage) {
    using T = Tile<Format>;
    const int next = (part + 1) % T::parts;
    if (!Format::ahead) held.load_w(stage, part);
    typename Format::Fragments fragments[warp_tiles];
    UNROLL for (int i = 0; i < warp_tiles; i++) Format::unpack(fragments[i], held.w[i], held.common[i], part);
    if (Format::ahead) held.load_w(next_stage, next);
    constexpr int together = Format::steps;  // groups whose products alternate: a step waits for the sum of the one before
    UNROLL for (int first = 0; first < T::warp_groups; first += together) {
        if (!Format::ahead)
            UNROLL for (int j = first; j < first + together; j++) held.load_x(stage, part, j);
        UNROLL for (int step = 0; step < Format::steps; step++)
            UNROLL for (int j = first; j < first + together; j++)
                UNROLL for (int i = 0; i < warp_tiles; i++) {
                    if constexpr (Format::steps == 1) Format::multiply(sum[i][j], fragments[i], held.x[j]);
                    else Format::multiply_step(sum[i][j], fragments[i], held.x[j], step);
                }
        if (Format::ahead)
            UNROLL for (int j = first; j < first + together; j++) held.load_x(next_stage, next, j);
    }
}

// end_range adds the sum of a range to the total.
template <int groups> INLINE void end_range(float (&total)[warp_tiles][groups][4], float (&sum)[warp_tiles][groups][4], bool first) {
    UNROLL for (int i = 0; i < warp_tiles; i++)
        UNROLL for (int j = 0; j < groups; j++)
            UNROLL for (int e = 0; e < 4; e++) {
                total[i][j][e] = first ? sum[i][j][e] : total[i][j][e] + sum[i][j][e];
                sum[i][j][e] = 0.0f;
            }
}

template <class Format> INLINE void multiply_tile(const Product &p) {
    using T = Tile<Format>;
    DYNAMIC_SHARED(unsigned char, shared);
    constexpr int stages = Format::stages;
    const int g = lane_id() / 4, t = lane_id() % 4;
    const int first_tile = warp_id() % 4 * warp_tiles, first_group = warp_id() / 4 * T::warp_groups;
    int block = blockIdx.y;
    const Output output = output_of<block_tiles>(p, block);
    const int block_tile = block * block_tiles, pieces = p.slabs * Format::pieces;
    const Copies<Format> copies(p, output, block_tile, blockIdx.x * Format::block_groups);
    const Staged first_stage = {to_shared(shared)};
    // begin waits until a piece has been copied, and begins to copy a later one over the piece before it, of
    // which every warp has loaded everything.
    const auto begin = [&](int piece) {
        copy_async_wait(stages - 2);
        __syncthreads();
        int later = piece + stages - 1;
        if (later < pieces) copies.copy(first_stage + later % stages * T::stage_bytes, later);
        copy_async_commit();
    };
    for (int piece = 0; piece < stages - 1; piece++) {
        if (piece < pieces) copies.copy(first_stage + piece * T::stage_bytes, piece);
        copy_async_commit();
    }
    float sum[warp_tiles][T::warp_groups][4] = {}, total[warp_tiles][T::warp_groups][4];
    Held<Format> held;
    if (Format::ahead) {
        begin(0);
        held.load_w(first_stage, 0);
        UNROLL for (int j = 0; j < T::warp_groups; j++) held.load_x(first_stage, 0, j);
    }
    int range = 0, end = p.slabs / output.ranges * Format::pieces;
    for (int piece = 0; piece < pieces; piece++) {
        if (!Format::ahead) begin(piece);
        const Staged stage = first_stage + piece % stages * T::stage_bytes;
        UNROLL for (int part = 0; part + 1 < T::parts; part++) multiply_part<Format>(sum, held, stage, part, stage);
        if (Format::ahead) begin(piece + 1);
        multiply_part<Format>(sum, held, stage, T::parts - 1, first_stage + (piece + 1) % stages * T::stage_bytes);
        if (piece + 1 < end) continue;
        end_range(total, sum, range == 0);
        range++;
        end = p.slabs * (range + 1) / output.ranges * Format::pieces;
    }
    UNROLL for (int i = 0; i < warp_tiles; i++) {
        const int tile = block_tile + first_tile + i;
        UNROLL for (int j = 0; j < T::warp_groups; j++)
            UNROLL for (int e = 0; e < 4; e++) {
                int row = (blockIdx.x * Format::block_groups + first_group + j) * group_rows + 2 * t + e % 2;
                int n = tile * tile_rows + g + e / 2 * 8;
                if (row < p.m && n < output.n) output.y[(size_t)row * output.n + n] = finish<Format>(p, total[i][j][e], row);
            }
    }
}

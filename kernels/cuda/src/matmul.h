// Matrix products y (m, n) = x (m, k) · wᵀ, whose bits do not depend on m.
//
// Tensor cores multiply tiles: 16 rows of w with 8 rows of x, along 16 or 32 columns. Every column of
// such a product is independent, so a row of x gives the same bits alone and among others. The order of
// the sum along k is fixed as follows:
//   - w and x are divided into slabs along k; the slabs form contiguous ranges, whose number the caller
//     chooses by n and k alone;
//   - a range is summed from zero, slab by slab in ascending order;
//   - the sums of the ranges are added in ascending order.
// There are two kernels. multiply_rows, for up to 32 rows, is limited by memory. A warp reads one range
// of one tile of 16 rows of w once, directly to registers. The warps of a block add their sums in shared
// memory. multiply_tile, for many rows, is limited by arithmetic. A block holds 128 × 128 or 128 × 64
// results, and goes through all ranges in order.
// Integer formats have a third one for a single row (alone.h). Another is for mixtures of experts
// (chosen.h).
//
// Weights are stored in the order in which lanes read them (see the formats). So a lane loads 16
// bytes, a warp 512 contiguous bytes, and a range of a tile is contiguous.
#pragma once
#include "epilogue.h"

// One launch can multiply several matrices with the same x. Each Output has weights, ranges and a result
// of its own, so its bits are those of a launch of its own. n is 0 for an unused Output.
struct Output {
    float *y;  // (m, n)
    int n;
    const unsigned char *weights;
    int ranges;  // at most Format::most_ranges, at most slabs
};
struct Product {
    Output outputs[3];
    const unsigned char *x;
    int m;
    int slabs;  // of w, along k
    Epilogue after;  // of multiply_rows; and so is stream
    Stream stream;
};

// output_of returns the Output of block number `block`, if a block has `tiles` tiles. It changes block to
// its number within that Output.
template <int tiles> INLINE Output output_of(const Product &p, int &block) {
    Output output = p.outputs[0];
    for (int i = 1; i < 3; i++) {
        int blocks = (tiles_of(output.n) + tiles - 1) / tiles;
        if (block < blocks) break;
        block -= blocks;
        output = p.outputs[i];
    }
    return output;
}

// Places that lanes load from: weights in memory, which are read once (Streamed); activations,
// which the first-level cache keeps (Cached); and both in shared memory (Staged).
struct Streamed {
    const unsigned char *at;
    INLINE_MEMBER Streamed operator+(int bytes) const { return {at + bytes}; }
};
struct Cached {
    const unsigned char *at;
    INLINE_MEMBER Cached operator+(size_t bytes) const { return {at + bytes}; }
};
struct Staged {
    shared_address at;
    INLINE_MEMBER Staged operator+(int bytes) const { return {at + bytes}; }
};
INLINE uint4 load16(Streamed p) { return load_once(p.at); }
INLINE uint2 load8(Streamed p) { return *(const uint2 *)p.at; }
INLINE unsigned load4(Streamed p) { return *(const unsigned *)p.at; }
INLINE uint4 load16(Cached p) { return load_cached(p.at); }
INLINE uint2 load8(Cached p) { return *(const uint2 *)p.at; }
INLINE uint4 load16(Staged p) { return load_shared16(p.at); }
INLINE uint2 load8(Staged p) { return load_shared8(p.at); }
INLINE unsigned load4(Staged p) { return load_shared4(p.at); }

// A Format has
//   Activations; slab_bytes of 16 rows; columns of a slab; parts of a slab; most_ranges, the largest Output.ranges;
//   for speed only: resident and resident_tiles, the number of blocks of multiply_chosen and of
//   multiply_tile that a multiprocessor should hold at once;
//   for multiply_tile only: block_groups, the groups of a block; stages, the number of stages; pieces, the
//   stages that a slab takes; ahead, whether a warp loads a part while it multiplies the one before, which
//   needs two parts a stage; steps, the number of calls of multiply_step that make a multiply, if not 1;
//   Part and Common: what a lane has of a part of a slab, as stored, and of the data that all parts use;
//   load_part and load_common load them;
//   Fragments: a part ready for tensor cores; unpack makes them;
//   X: what a lane has of a part of a group of activations. load_x loads the numbers of row g. load_factors
//   loads the factors of rows 2t and 2t+1. load_factor is for multiply_chosen, where rows may be missing: it loads
//   those of row 2t + e alone, e = 0 or 1, from an address to which the caller has added the row's place in its
//   group (factor_bytes for each row of a block);
//   multiply(sum, fragments, x): adds the product of a part. sum[i] is row g + 8·(i/2) of w and row
//   2t + i%2 of x, with g = lane/4 and t = lane%4;
//   for alone.h only, in integer formats: unpack_quants, multiply_quants and scale_terms, the three steps of
//   own_terms; terms, how many terms a block adds to a row; integers, how many integers a lane keeps; Integers,
//   the struct of these integers.
template <class Format> constexpr int activation_bytes() { return Format::columns / slab_columns * Format::Activations::slab_bytes; }
template <class Format> INLINE size_t group_bytes(const Product &p) {
    return Format::Activations::header_bytes + (size_t)p.slabs * activation_bytes<Format>();
}

// finish turns a complete sum into a result: it undoes the scaling of activations in half precision by a
// power of two.
template <class Format> INLINE float finish(const Product &p, float sum, int row) {
    if (Format::Activations::header_bytes == 0) return sum;
    const float *factors = (const float *)(p.x + row / group_rows * group_bytes<Format>(p));
    return sum * factors[row % group_rows];
}

// Rows of x for a warp: place finds a slab of them, and load reads what a lane has of a part of the slab,
// for group i. Neighbours are the rows from 0 on. normed tells whether the block computes them as a norm; then
// shared_bytes is the shared memory that they take.
template <class Format, int groups> struct Neighbours {
    static constexpr bool normed = false;
    const Product &p;
    INLINE_MEMBER Neighbours(const Product &p, unsigned char *) : p(p) {}
    INLINE_MEMBER static int shared_bytes(const Product &) { return 0; }
    INLINE_MEMBER Cached place(int slab) const {
        return {p.x + Format::Activations::header_bytes + (size_t)slab * activation_bytes<Format>()};
    }
    INLINE_MEMBER void load(typename Format::X &rows, Cached x, int i, int part, int lane) const {
        if (groups > 1 || lane / 4 < p.m) Format::load_x(rows, x + i * group_bytes<Format>(p), part, lane);
        Format::load_factors(rows, x + i * group_bytes<Format>(p), part, lane);
    }
};
template <class Layout, class Format> constexpr int layout_bytes() { return Format::columns / slab_columns * Layout::slab_bytes; }

// add_slabs adds the products of the slabs first … last−1 of a tile to the sums of a warp.
template <class Format, int groups, class Rows>
INLINE void add_slabs(float (&sum)[groups][4], const Rows &x, const unsigned char *tile, int first, int last) {
    const int lane = lane_id();
    for (int slab = first; slab < last; slab++) {
        const Streamed w = {tile + (size_t)slab * Format::slab_bytes};
        typename Format::Part stored[Format::parts];
        typename Format::Common common;
        UNROLL for (int part = 0; part < Format::parts; part++) Format::load_part(stored[part], w, part, lane);
        Format::load_common(common, w, lane);
        const auto at = x.place(slab);
        UNROLL for (int part = 0; part < Format::parts; part++) {
            typename Format::Fragments fragments;
            Format::unpack(fragments, stored[part], common, part);
            UNROLL for (int i = 0; i < groups; i++) {
                typename Format::X rows = {};
                x.load(rows, at, i, part, lane);
                Format::multiply(sum[i], fragments, rows);
            }
        }
    }
}

// sum_range leaves the sums of the slabs first … last−1 of a tile in `to`, (8·groups, 16).
template <class Format, int groups, class Rows>
INLINE void sum_range(float *to, const Rows &x, const unsigned char *tile, int first, int last) {
    const int g = lane_id() / 4, t = lane_id() % 4;
    float sum[groups][4] = {};
    add_slabs<Format, groups>(sum, x, tile, first, last);
    UNROLL for (int i = 0; i < groups; i++)
        UNROLL for (int j = 0; j < 4; j++) to[(i * group_rows + 2 * t + j % 2) * tile_rows + g + j / 2 * 8] = sum[i][j];
}

// sum_ranges multiplies a tile with rows of x. The warps of a block share the ranges: with w warps, warp r
// computes the ranges r, r+w, … The sums of each are left in partial (ranges, 8·groups, 16), shared memory.
template <class Format, int groups, class Rows>
INLINE void sum_ranges(float *partial, const Product &p, const Output &output, const unsigned char *tile, const Rows &x) {
    constexpr int results = groups * group_rows * tile_rows;
    for (int range = warp_id(); range < output.ranges; range += (int)blockDim.x / warp_size)
        sum_range<Format, groups>(partial + range * results, x, tile, p.slabs * range / output.ranges, p.slabs * (range + 1) / output.ranges);
    copy_async_wait(0);  // for copy_stream
    __syncthreads();
}

// total_of adds the sums of all ranges of result i.
template <int groups> INLINE float total_of(const float *partial, int ranges, int i) {
    constexpr int results = groups * group_rows * tile_rows;
    float total = partial[i];
    for (int r = 1; r < ranges; r++) total += partial[r * results + i];
    return total;
}

// gate_rows: block b computes columns 32·b … 32·b+31 of silu(gate)·up, for up to 8·groups rows of x, and
// writes them as an operand: gate and up are the first two Outputs, with the same n and ranges, and their y
// are not written. Warp w computes range w mod ranges of some of the four tiles, one after the other; the
// number of warps is a multiple of the number of ranges. If a range is one slab, a warp begins to load its next
// range to the second-level cache while it multiplies one. A longer next range could be displaced from a small
// cache before it is used.
constexpr int gated_tiles = 2, gated_columns = gated_tiles * tile_rows;
template <class Format, int groups, class Rows> INLINE void gate_rows(float *partial, const Product &p, const Rows &x) {
    constexpr int results = groups * group_rows * tile_rows;
    const Output &gate = p.outputs[0], &up = p.outputs[1];
    const int all = tiles_of(gate.n), from = gated_tiles * blockIdx.x, own = from + gated_tiles <= all ? gated_tiles : all - from;
    const int ranges = gate.ranges, range = warp_id() % ranges, first = p.slabs * range / ranges, last = p.slabs * (range + 1) / ranges;
    const int at_once = (int)blockDim.x / warp_size / ranges;
    const size_t tile_bytes = (size_t)p.slabs * Format::slab_bytes;
    for (int i = warp_id() / ranges; i < 2 * own; i += at_once) {
        auto tile = [&](int i) { return i < own ? gate.weights + (from + i) * tile_bytes : up.weights + (from + i - own) * tile_bytes; };
        if (last - first == 1 && i + at_once < 2 * own && lane_id() * 128 < Format::slab_bytes)
            prefetch_l2(tile(i + at_once) + (size_t)first * Format::slab_bytes + lane_id() * 128);
        sum_range<Format, groups>(partial + (i * ranges + range) * results, x, tile(i), first, last);
    }
    __syncthreads();
    float *gated = partial + 2 * gated_tiles * ranges * results;  // (m, gated_columns)
    for (int i = threadIdx.x; i < p.m * gated_columns; i += blockDim.x) {
        const int row = i / gated_columns, column = i % gated_columns, result = row * tile_rows + column % tile_rows;
        const float *sums = partial + column / tile_rows * ranges * results;
        if (from * tile_rows + column >= gate.n) gated[i] = 0.0f;
        else gated[i] = swiglu_of(finish<Format>(p, total_of<groups>(sums, ranges, result), row),
            finish<Format>(p, total_of<groups>(sums + own * ranges * results, ranges, result), row));
    }
    __syncthreads();
    const int begin = from * tile_rows, end = from + gated_tiles >= all ? p.after.slabs * slab_columns : begin + gated_columns;
    OperandOf<typename Format::Activations>().write_part(p.after.to, 0, p.m, begin, end, p.after.slabs,
        [=](int row, int k) { return k - begin < gated_columns ? gated[row * gated_columns + k - begin] : 0.0f; });
}

// prefetch_range begins to load a range of a tile to the second-level cache, of each slab at most 4 KiB.
template <class Format> INLINE void prefetch_range(const Product &p, const Output &output, int tile, int range) {
    if (range >= output.ranges) return;
    const int at = lane_id() * 128;
    for (int slab = p.slabs * range / output.ranges; slab < p.slabs * (range + 1) / output.ranges; slab++)
        if (at < Format::slab_bytes) prefetch_l2(output.weights + ((size_t)tile * p.slabs + slab) * Format::slab_bytes + at);
}

// copy_stream begins to copy the numbers of the stream that a tile is added to, to shared memory.
INLINE void copy_stream(float *held, const Product &p, int n, int tile) {
    constexpr int each = 4, per_row = tile_rows / each;
    for (int i = threadIdx.x; i < p.m * per_row; i += blockDim.x) {
        const int row = i / per_row, column = tile * tile_rows + i % per_row * each;
        if (column < n) copy_async(held + each * i, p.stream.rows + (size_t)row * n + column);
    }
    copy_async_commit();
}

// store_sum adds the results of a tile to the stream.
template <class Format, int groups> INLINE void store_sum(const Product &p, const Output &output, int tile, const float *partial, const float *held) {
    for (int i = threadIdx.x; i < groups * group_rows * tile_rows; i += blockDim.x) {
        const int row = i / tile_rows, n = tile * tile_rows + i % tile_rows;
        const bool exists = row < p.m && n < output.n;
        const float y = exists ? finish<Format>(p, total_of<groups>(partial, output.ranges, i), row) : 0.0f;
        const float sum = exists ? held[i] + y : 0.0f;
        if (exists) {
            output.y[(size_t)row * output.n + n] = y;
            p.stream.rows[(size_t)row * output.n + n] = sum;
        }
        const float squares = tile_squares(sum);
        if (row < p.m && i % tile_rows == 0) p.stream.squares[row * tiles_of(output.n) + tile] = squares;
    }
}

// multiply_rows: block b computes tile b for up to 8·groups rows of x.
template <class Format, int groups, template <class, int> class Rows = Neighbours> INLINE void multiply_rows(const Product &p) {
    constexpr bool normed = Rows<Format, groups>::normed;
    DYNAMIC_SHARED(unsigned char, shared);
    SHARED(__align__(16) float, held, [groups * group_rows * tile_rows]);
    const bool gated = groups <= 2 && p.after.kind == swiglu_epilogue;
    int tile = gated ? gated_tiles * blockIdx.x : blockIdx.x;
    const Output output = gated ? p.outputs[0] : output_of<1>(p, tile);
    if (normed) prefetch_range<Format>(p, output, tile, gated ? warp_id() % output.ranges : warp_id());
    const Rows<Format, groups> x(p, shared);
    float *partial = (float *)(shared + Rows<Format, groups>::shared_bytes(p));
    if (gated) return gate_rows<Format, groups>(partial, p, x);
    if (!normed && p.after.kind == sum_epilogue) copy_stream(held, p, output.n, tile);
    sum_ranges<Format, groups>(partial, p, output, output.weights + (size_t)tile * p.slabs * Format::slab_bytes, x);
    if (!normed && p.after.kind == sum_epilogue) return store_sum<Format, groups>(p, output, tile, partial, held);
    for (int i = threadIdx.x; i < groups * group_rows * tile_rows; i += blockDim.x) {
        float total = total_of<groups>(partial, output.ranges, i);
        int row = i / tile_rows, n = tile * tile_rows + i % tile_rows;
        if (row < p.m && n < output.n) output.y[(size_t)row * output.n + n] = finish<Format>(p, total, row);
    }
}

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

// MATMUL exports the products of a format. Those for up to 8, 16 and 32 rows have a block per tile, or with a
// swiglu_epilogue, for up to 16 rows, per two tiles of gate. They have the parameters of an epilogue in
// addition. With 512 threads at most, a thread has 128 registers, so two blocks of 256 are resident. The one
// for any number of rows has ⌈m/(8·block_groups)⌉ × ⌈tiles/8⌉ blocks of 256 threads, where each Output begins
// with a new block.
#define MATMUL_OUTPUT(i) float *y##i, int n##i, const unsigned char *weights##i, int ranges##i
#define MATMUL_PARAMETERS MATMUL_OUTPUT(0), MATMUL_OUTPUT(1), MATMUL_OUTPUT(2), const unsigned char *x, int m, int slabs
#define MATMUL_AFTER int kind, unsigned char *to, int to_slabs, float *stream, float *squares, const float *norm, int columns, float eps
#define MATMUL_OUTPUTS {{y0, n0, weights0, ranges0}, {y1, n1, weights1, ranges1}, {y2, n2, weights2, ranges2}}
#define MATMUL_PRODUCT {MATMUL_OUTPUTS, x, m, slabs, {}, {}}
#define MATMUL_ROWS(name, most_threads, blocks, call)                                                                       \
    extern "C" __global__ void __launch_bounds__(most_threads, blocks) name(MATMUL_PARAMETERS, MATMUL_AFTER) {              \
        call({MATMUL_OUTPUTS, x, m, slabs, {kind, to, to_slabs}, {stream, squares, norm, columns, eps}});                   \
    }                                                                                                                       \
    EXPORT(name)
#define MATMUL_TILE(name, blocks, call)                                                                                     \
    extern "C" __global__ void __launch_bounds__(256, blocks) name(MATMUL_PARAMETERS) { call(MATMUL_PRODUCT); }             \
    EXPORT(name)
#define MATMUL(name, Format)                                                                                                \
    MATMUL_ROWS(name##_rows8, 512, 1, (multiply_rows<Format, 1>))                                                           \
    MATMUL_ROWS(name##_rows16, 512, 1, (multiply_rows<Format, 2>))                                                          \
    MATMUL_ROWS(name##_rows32, 32 * Format::most_ranges, 1, (multiply_rows<Format, 4>))                                     \
    MATMUL_TILE(name##_tile, Format::resident_tiles, (multiply_tile<Format>))

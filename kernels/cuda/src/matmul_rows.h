// Products with up to 32 rows of x: see matmul.h.
#pragma once
#include "product.h"

// A class of Rows says where a warp finds rows of x: place finds a slab of them, and load reads what a lane has of a
// part of the slab, for group i. normed tells whether the block computes them as a norm; then shared_bytes is the
// shared memory that they take. Neighbours are the rows from 0 on.
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

// prefetch_slab begins to load a slab of a tile to the second-level cache, at most its first 4 KiB.
template <class Format> INLINE void prefetch_slab(const unsigned char *tile, int slab) {
    const int at = lane_id() * line_bytes;
    if (at < Format::slab_bytes) prefetch_l2(tile + (size_t)slab * Format::slab_bytes + at);
}

// gate_rows computes silu(gate)·up for up to 8·groups rows of x, and writes it as an operand: gate and up are the
// first two Outputs, with the same n and ranges, and their y are not written. Block b takes the 32 columns from
// 32·b on; if it has normalised its row, it then takes those of block b + gridDim.x, and so on. Warp w computes
// range w mod ranges of some of the four tiles of these columns, one after the other; the number of warps is a
// multiple of the number of ranges. If a range is one slab, a warp begins to load its next range to the
// second-level cache while it multiplies one. A longer next range could be displaced from a small cache before it
// is used.
constexpr int gated_tiles = 2, gated_columns = gated_tiles * tile_rows;
template <class Format, int groups, class Rows> INLINE void gate_rows(float *partial, const Product &p, const Rows &x) {
    constexpr int results = groups * group_rows * tile_rows;
    const Output &gate = p.outputs[0], &up = p.outputs[1];
    const int all = tiles_of(gate.n);
    const int ranges = gate.ranges, range = warp_id() % ranges, first = p.slabs * range / ranges, last = p.slabs * (range + 1) / ranges;
    const int at_once = (int)blockDim.x / warp_size / ranges;
    const size_t tile_bytes = (size_t)p.slabs * Format::slab_bytes;
    float *gated = partial + 2 * gated_tiles * ranges * results;  // (m, gated_columns)
    int from = gated_tiles * blockIdx.x;
    do {
        const int own = from + gated_tiles <= all ? gated_tiles : all - from;
        for (int i = warp_id() / ranges; i < 2 * own; i += at_once) {
            auto tile = [&](int i) { return i < own ? gate.weights + (from + i) * tile_bytes : up.weights + (from + i - own) * tile_bytes; };
            if (last - first == 1 && i + at_once < 2 * own) prefetch_slab<Format>(tile(i + at_once), first);
            sum_range<Format, groups>(partial + (i * ranges + range) * results, x, tile(i), first, last);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < p.m * gated_columns; i += blockDim.x) {
            const int row = i / gated_columns, column = i % gated_columns, result = row * tile_rows + column % tile_rows;
            const float *sums = partial + column / tile_rows * ranges * results;
            if (from * tile_rows + column >= gate.n) gated[i] = 0.0f;
            else gated[i] = swiglu_of(finish<Format>(p, total_of<groups>(sums, ranges, result), row),
                finish<Format>(p, total_of<groups>(sums + own * ranges * results, ranges, result), row));
        }
        __syncthreads();  // the next turn may overwrite the sums
        const int begin = from * tile_rows, end = from + gated_tiles >= all ? p.after.slabs * slab_columns : begin + gated_columns;
        OperandOf<typename Format::Activations>().write_part(p.after.to, 0, p.m, begin, end, p.after.slabs,
            [=](int row, int k) { return k - begin < gated_columns ? gated[row * gated_columns + k - begin] : 0.0f; });
        from += gated_tiles * gridDim.x;
    } while (Rows::normed && from < all);
}

// prefetch_range begins to load one of so many ranges of a tile to the second-level cache.
template <class Format> INLINE void prefetch_range(const unsigned char *tile, int slabs, int range, int ranges) {
    for (int slab = slabs * range / ranges; slab < slabs * (range + 1) / ranges; slab++) prefetch_slab<Format>(tile, slab);
}

// prefetch_first begins to load what a warp multiplies first, see gate_rows and sum_ranges.
template <class Format> INLINE void prefetch_first(const Product &p, bool gated) {
    const size_t tile_bytes = (size_t)p.slabs * Format::slab_bytes;
    if (!gated) {
        int tile = blockIdx.x;
        const Output output = output_of<1>(p, tile);
        if (warp_id() < output.ranges) prefetch_range<Format>(output.weights + tile * tile_bytes, p.slabs, warp_id(), output.ranges);
        return;
    }
    const int from = gated_tiles * blockIdx.x, own = tiles_of(p.outputs[0].n) - from < gated_tiles ? 1 : gated_tiles;
    const int ranges = p.outputs[0].ranges, i = warp_id() / ranges;
    const unsigned char *tile = i < own ? p.outputs[0].weights + (from + i) * tile_bytes : p.outputs[1].weights + (from + i - own) * tile_bytes;
    if (i < 2 * own) prefetch_range<Format>(tile, p.slabs, warp_id() % ranges, ranges);
}

// copy_stream begins to copy to shared memory the part of the stream to which a tile is added.
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

// store_result writes the results of a tile.
template <class Format, int groups> INLINE void store_result(const Product &p, const Output &output, int tile, const float *partial) {
    for (int i = threadIdx.x; i < groups * group_rows * tile_rows; i += blockDim.x) {
        float total = total_of<groups>(partial, output.ranges, i);
        int row = i / tile_rows, n = tile * tile_rows + i % tile_rows;
        if (row < p.m && n < output.n) output.y[(size_t)row * output.n + n] = finish<Format>(p, total, row);
    }
}

// multiply_rows: block b computes tile b for up to 8·groups rows of x, or with a SwiGLU what gate_rows says. A block that normalises its row takes several
// tiles, so that the norm is not made again for each: it goes on with tile b + gridDim.x, and so on.
template <class Format, int groups, template <class, int> class Rows = Neighbours> INLINE void multiply_rows(const Product &p) {
    constexpr bool normed = Rows<Format, groups>::normed;
    DYNAMIC_SHARED(unsigned char, shared);
    SHARED(__align__(16) float, held, [groups * group_rows * tile_rows]);
    const bool gated = groups <= 2 && p.after.kind == swiglu_epilogue;
    if (normed) prefetch_first<Format>(p, gated);
    const Rows<Format, groups> x(p, shared);
    float *partial = (float *)(shared + Rows<Format, groups>::shared_bytes(p));
    if (gated) return gate_rows<Format, groups>(partial, p, x);
    const bool sums = !normed && p.after.kind == sum_epilogue;
    int tile = blockIdx.x;
    Output output = output_of<1>(p, tile);
    if (sums) copy_stream(held, p, output.n, tile);
    for (int block = blockIdx.x;;) {
        sum_ranges<Format, groups>(partial, p, output, output.weights + (size_t)tile * p.slabs * Format::slab_bytes, x);
        if (sums) return store_sum<Format, groups>(p, output, tile, partial, held);
        store_result<Format, groups>(p, output, tile, partial);
        if (!normed) return;
        block += gridDim.x;
        if (block >= all_tiles(p)) return;
        tile = block;
        output = output_of<1>(p, tile);
        __syncthreads();  // all have read the sums
    }
}

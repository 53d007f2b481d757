// Attention over one split of a cache of half precision, on tensor cores.
//
// A column is one query: one head of one row (attention.h). A block works on one key head, one
// split of the keys and 8·tiles columns. It computes scores (keys × columns), weights, and weighted
// values (numbers × columns). Keys and values are the 16-wide operand of the tensor cores, columns
// the 8-wide one, so that a column has the same arithmetic in every tile. Decoding has one tile; a
// few rows have a block for each tile while a card runs all these blocks at once. With several tiles in a block,
// many columns share the reading of keys. Queries and weights are rounded to half precision, sums are float32. Σ p adds the rounded
// weights, because these are the weights that the values are multiplied with.
//
// Keys that a column does not see have the weight 0, and 0 times a finite number is 0. So other rows
// do not change a row. An infinite or NaN value reaches every row of its pass, but such a pass has
// failed anyway.
//
// A lane reads 16 bytes at once: of a chunk of 32 numbers, lane t of four reads numbers 8t … 8t+7. A
// chunk takes two products, j = 0 and 1, of 16 numbers each. Both operands are read in this order, so number
// i of the 16 in product j is number 8·((i%8)/2) + 4j + 2·(i/8) + i%2 of the chunk (/ drops the remainder).
#include "arrival.h"
#include "combine.h"
#include "fetch.h"
#include "heads.h"

constexpr int threads = keys_per_split, warps = threads / warp_size;
constexpr int chunk = 32;                          // numbers along the summed axis, of which four lanes have 16 bytes each
constexpr int score_stride = keys_per_split + 16;  // floats; the extra 16 spread the columns over the banks

// query_stride is the length of a query in shared memory, in halves: 64·n + 32 keeps 16-byte reads
// free of bank conflicts.
constexpr int query_stride(int head_dim) { return padded_dim(head_dim) % 64 ? padded_dim(head_dim) : padded_dim(head_dim) + 32; }

INLINE uint4 load_vector(const half_bits *p) { return *(const uint4 *)p; }

// word returns word i of v; i is known at compile time.
INLINE unsigned word(const uint4 &v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// multiply_chunk adds the product of 16 rows and eight columns over a chunk. low has a lane's 16 bytes
// of row g, high those of row g+8.
INLINE void multiply_chunk(float (&sum)[4], const uint4 &low, const uint4 &high, const uint4 &column) {
    UNROLL for (int j = 0; j < 2; j++) {
        unsigned a[4] = {word(low, 2 * j), word(high, 2 * j), word(low, 2 * j + 1), word(high, 2 * j + 1)};
        unsigned b[2] = {word(column, 2 * j), word(column, 2 * j + 1)};
        mma_half(sum, a, b);
    }
}

// numbers_of is how many numbers of a head a lane has: every 32nd.
constexpr int numbers_of(int head_dim) { return padded_dim(head_dim) / warp_size; }

// store_query rounds the query of a column to half precision, with zeros at its end.
template <int head_dim> INLINE void store_query(half_bits *query, int column, const float (&x)[numbers_of(head_dim)]) {
    half_bits *to = query + column * query_stride(head_dim);
    each_number<numbers_of(head_dim)>(padded_dim(head_dim), [&](int i, int d) { to[d] = d < head_dim ? to_half(x[i]) : 0; });
}

// load_queries stores the queries of the block. Columns that do not exist have none: products read the nearest one in
// their place, and nothing reads the sums.
template <int head_dim, int columns> INLINE void load_queries(half_bits *query, const float *q, const Columns &s) {
    for (int c = warp_id(); c < columns && s.exists(c); c += warps) {
        const Query at = s.query(c);
        const float *from = q + ((size_t)at.row * s.heads + at.head) * head_dim;
        float x[numbers_of(head_dim)];
        each_number<numbers_of(head_dim)>(head_dim, [&](int i, int d) { x[i] = from[d]; });
        store_query<head_dim>(query, c, x);
    }
}

// Fresh is a row whose heads no launch has prepared yet (heads.h): the only row of this launch. Then a block
// prepares the queries of its columns itself. The block whose split has the row's key also stores key and value.
// No other block reads these, because a launch with a fresh row has one tile of columns. Heads of more than
// most_fresh numbers are always prepared: their norm has a block for each head (rms_norm), and so another order
// of its sum.
constexpr int most_fresh = 256;
struct Fresh {
    const float *k, *v;  // (kv_heads·head_dim); null: the row is prepared and stored
    Heads heads;
};

// own_key returns which key of the split the block stores. If it stores none, the result is negative.
INLINE int own_key(const Fresh &f, const Columns &s) {
    constexpr int none = -keys_per_split;
    const int key = s.first_position - s.start;
    return f.k && key < keys_per_split ? key : none;
}

// kind_of says what a warp prepares as the i-th head: first the queries that read the block's key head, then its key
// and its value.
INLINE Kind kind_of(int i, int sharing) { return i < sharing ? Kind::query : i == sharing ? Kind::key : Kind::value; }

// load_fresh loads the i-th head of a fresh row.
template <int head_dim> INLINE void load_fresh(Head<numbers_of(head_dim)> &head, int i, const float *q, const Fresh &f, int sharing) {
    const Kind kind = kind_of(i, sharing);
    const unsigned kv_head = blockIdx.y;
    const float *from = kind == Kind::query ? q + (size_t)(kv_head * sharing + i) * head_dim : (kind == Kind::key ? f.k : f.v) + (size_t)kv_head * head_dim;
    head.load(from, kind, f.heads);
}

// prepare_row prepares the heads and stores the queries, as load_queries does. If the block has the row's key, it
// also stores key and value. On entry, first holds the warp's first head. scratch has room for a head of each warp.
template <int head_dim>
INLINE void prepare_row(half_bits *query, float *scratch, int scratch_stride, Head<numbers_of(head_dim)> &first, const float *q, half_bits *keys,
                        half_bits *values, int capacity, const Fresh &f, const Columns &s) {
    const bool stores = own_key(f, s) >= 0 && s.first_position < capacity;
    for (int i = warp_id(); i < s.sharing + (stores ? 2 : 0); i += warps) {
        const Kind kind = kind_of(i, s.sharing);
        if (i >= warps) load_fresh<head_dim>(first, i, q, f, s.sharing);
        first.prepare(scratch + warp_id() * scratch_stride, kind, s.first_position, capacity, f.heads);
        if (kind == Kind::query) {
            store_query<head_dim>(query, i, first.x);
            continue;
        }
        int position = s.first_position;
        compute_here(position);
        if (kind == Kind::key) store_key(keys, s.kv_head, position, capacity, head_dim, first.x);
        else store_value(values, s.kv_head, position, capacity, head_dim, first.x);
    }
}

// Rows are 16 neighbouring rows of a matrix, each of `chunks` chunks: a lane has the 16 bytes of row g and of
// row g+8 in every chunk. stride is the length of a row in the cache.
template <int chunks> struct Rows {
    uint4 low[chunks], high[chunks];
    INLINE_MEMBER void load(const half_bits *matrix, int first, size_t stride) {
        const half_bits *from = matrix + (first + lane_id() / 4) * stride + lane_id() % 4 * 8;
        UNROLL for (int c = 0; c < chunks; c++) {
            low[c] = load_vector(from + chunk * c);
            high[c] = load_vector(from + 8 * stride + chunk * c);
        }
    }
};

// In a block with few columns, reading memory takes as long as everything else. So such a block loads keys and
// values before it needs them, as far as its registers allow: the keys of both turns of a warp (key_turns), of the
// first or of none, and the values of its first turn.
template <int head_dim, int tiles> struct Ahead {
    static constexpr int keys = tiles > 1 || head_dim > 256 ? 0 : head_dim <= 128 ? 2 : 1, values = tiles > 1 ? 0 : 1;
};

constexpr int key_turns = keys_per_split / (16 * warps);

// key_of returns the first of the 16 keys that a warp takes in a turn. If the split has no keys for this turn, these
// are the keys of the warp's first turn.
INLINE int key_of(int turn, const Columns &s) {
    const int key = 16 * (warp_id() + warps * turn);
    return key < s.keys ? key : 16 * warp_id();
}

// ahead_at reports whether a warp loads the keys of a turn before it needs them. It cannot do this with a key that
// the block itself is about to store.
template <int head_dim, int tiles> INLINE bool ahead_at(int turn, int first, int own) {
    return turn < Ahead<head_dim, tiles>::keys && (own < first || own >= first + 16);
}

// score_keys writes scale·q·k for the keys of the split. A warp takes 16 keys in a turn. If Ahead covers all turns,
// the warp multiplies them together: a product waits only for the one before it in its own sum. For a turn without
// keys it computes scores that nothing reads.
template <int head_dim, int tiles, class Keys>
INLINE void score_keys(float *score, const half_bits *query, Keys (&loaded)[key_turns], const half_bits *keys, int own, float scale, const Columns &s) {
    constexpr int chunks = padded_dim(head_dim) / chunk;
    const int g = lane_id() / 4, t = lane_id() % 4;
    constexpr int together = Ahead<head_dim, tiles>::keys == key_turns ? key_turns : 1;
    UNROLL for (int turn = 0; turn < key_turns; turn += together) {
        if (16 * (warp_id() + warps * turn) >= s.keys) return;
        UNROLL for (int i = turn; i < turn + together; i++)
            if (!ahead_at<head_dim, tiles>(i, key_of(i, s), own)) loaded[i].load(keys, key_of(i, s), padded_dim(head_dim));
        UNROLL for (int n = 0; n < tiles; n++) {
            if (n > 0 && !s.tile_exists(n)) break;
            const half_bits *column = query + s.nearest(8 * n + g) * query_stride(head_dim) + 8 * t;
            float sum[together][4] = {};
            UNROLL for (int c = 0; c < chunks; c++) {
                const uint4 numbers = load_vector(column + chunk * c);
                UNROLL for (int i = 0; i < together; i++) multiply_chunk(sum[i], loaded[turn + i].low[c], loaded[turn + i].high[c], numbers);
            }
            UNROLL for (int i = 0; i < together; i++) {
                float *to = score + (8 * n + 2 * t) * score_stride + 16 * (warp_id() + warps * (turn + i)) + g;
                UNROLL for (int e = 0; e < 4; e++) to[e % 2 * score_stride + 8 * (e / 2)] = sum[i][e] * scale;
            }
        }
    }
}

// cap_scores bounds all scores of the block. It is a step of its own because few models cap scores, and the
// code of the cap is long.
template <int columns> INLINE void cap_scores(float *score, float cap, const Columns &s) {
    if ((int)threadIdx.x >= s.keys) return;
    UNROLL_BY(1) for (int c = 0; c < columns && s.exists(c); c++) score[c * score_stride + threadIdx.x] = capped(score[c * score_stride + threadIdx.x], cap);
}

// weigh_keys replaces the scores of a column by the weights exp(score − largest) in half precision, one warp
// per column, and stores the largest score and the sum of the weights. A lane adds the weights of every 32nd
// key in ascending order; then butterflies add the lanes. Keys that the column does not see have the score −∞,
// and so the weight 0.
template <int columns> INLINE void weigh_keys(float *score, float *values, float *stats, int splits, const Columns &s) {
    constexpr int each = keys_per_split / warp_size;
    for (int c = warp_id(); c < columns && s.exists(c); c += warps) {
        const int hidden = s.hidden(c), visible = s.visible(c);
        const float *own = score + c * score_stride + lane_id();
        float v[each], largest = -infinity(), sum = 0;
        UNROLL for (int i = 0; i < each; i++) {
            const int key = lane_id() + warp_size * i;
            v[i] = key >= hidden && key < visible ? own[warp_size * i] : -infinity();
            largest = larger(largest, v[i]);
        }
        largest = largest_of<warp_size>(largest);
        __syncwarp();  // the weights overwrite scores that other lanes read
        half_bits *weight = (half_bits *)(score + c * score_stride) + lane_id();
        UNROLL for (int i = 0; i < each; i++) {
            const half_bits p = to_half(exp_falling(v[i] - largest));
            sum += from_half(p);
            weight[warp_size * i] = p;
        }
        sum = warp_sum(sum);
        if (lane_id() != 0 || visible <= hidden) continue;
        Partial to = partial_of(values, stats, s.query(c), s.heads, splits, blockIdx.x, 0);
        *to.largest = largest;
        *to.sum = sum;
    }
}

// first_keys keeps the first n of eight halves and zeros the others: after the end of the sequence
// there may be NaN, and 0·NaN is not 0.
INLINE uint4 first_keys(uint4 v, int n) {
    auto keep = [n](unsigned pair, int i) { return n > i + 1 ? pair : n > i ? pair & 0xffffu : 0u; };
    return {keep(v.x, 0), keep(v.y, 2), keep(v.z, 4), keep(v.w, 6)};
}

// sum_values writes Σ p·value. A warp takes 16 numbers of the head in a turn. If Ahead says so, first has the
// values of the warp's first turn.
template <int head_dim, int tiles, class Values>
INLINE void sum_values(float *partial, const float *score, Values &first, const half_bits *values, int capacity, int splits, const Columns &s) {
    constexpr int chunks = keys_per_split / chunk;
    int g = lane_id() / 4, t = lane_id() % 4;
    for (int d = 16 * warp_id(); d < head_dim; d += 16 * warps) {
        Values own;
        if (Ahead<head_dim, tiles>::values && d < 16 * warps) own = first;
        else own.load(values, d, capacity);
        if (s.keys % chunk) {
            UNROLL for (int c = 0; c < chunks; c++) {
                if (s.keys / chunk != c) continue;  // not read, or all its keys exist
                own.low[c] = first_keys(own.low[c], s.keys % chunk - 8 * t);
                own.high[c] = first_keys(own.high[c], s.keys % chunk - 8 * t);
            }
        }
        UNROLL for (int n = 0; n < tiles; n++) {
            if (n > 0 && !s.tile_exists(n)) break;
            float sum[4] = {0, 0, 0, 0};
            const half_bits *weight = (const half_bits *)(score + (8 * n + g) * score_stride) + 8 * t;
            UNROLL for (int c = 0; c < chunks; c++)
                if (chunk * c < s.keys) multiply_chunk(sum, own.low[c], own.high[c], load_vector(weight + chunk * c));
            UNROLL for (int e = 0; e < 2; e++) {
                const int column = 8 * n + 2 * t + e;
                if (!s.sees(column)) continue;
                float *to = partial_of(partial, nullptr, s.query(column), s.heads, splits, blockIdx.x, head_dim).values + d + g;
                to[0] = sum[e];
                to[8] = sum[e + 2];
            }
        }
    }
}

template <int key_dim, int value_dim, int tiles>
INLINE void attend_split(float *partial, float *stats, const float *q, half_bits *all_keys, half_bits *all_values, const Columns &s, int capacity, float scale,
                         float cap, const Fresh &fresh, Head<numbers_of(key_dim)> &first) {
    constexpr int columns = 8 * tiles;
    SHARED(uint4, query, [columns * query_stride(key_dim) / 8]);
    SHARED(uint4, scores, [columns * score_stride / 4]);
    const half_bits *keys = all_keys + ((size_t)s.kv_head * capacity + s.start) * padded_dim(key_dim);
    const half_bits *values = all_values + (size_t)s.kv_head * value_dim * capacity + s.start;
    Rows<padded_dim(key_dim) / chunk> own_keys[key_turns];
    const bool is_fresh = key_dim <= most_fresh && fresh.k;
    const int own = own_key(is_fresh ? fresh : Fresh{}, s);
    UNROLL for (int turn = 0; turn < key_turns; turn++) {
        const int key = key_of(turn, s);
        if (key < s.keys && ahead_at<key_dim, tiles>(turn, key, own)) own_keys[turn].load(keys, key, padded_dim(key_dim));
    }
    if (is_fresh) prepare_row<key_dim>((half_bits *)query, (float *)scores, score_stride, first, q, all_keys, all_values, capacity, fresh, s);
    else load_queries<key_dim, columns>((half_bits *)query, q, s);
    __syncthreads();
    score_keys<key_dim, tiles>((float *)scores, (const half_bits *)query, own_keys, keys, own, scale, s);
    Rows<keys_per_split / chunk> own_values;
    if (Ahead<value_dim, tiles>::values && 16 * warp_id() < value_dim) own_values.load(values, 16 * warp_id(), capacity);
    __syncthreads();
    if (cap) {
        cap_scores<columns>((float *)scores, cap, s);
        __syncthreads();
    }
    weigh_keys<columns>((float *)scores, partial, stats, gridDim.x, s);
    __syncthreads();
    sum_values<value_dim, tiles>(partial, (const float *)scores, own_values, values, capacity, gridDim.x, s);
}

// Then says what the launch does with the results of the splits. If form is no_operand, it leaves them.
// Otherwise the last block of a key head to finish combines the results of all rows and of the query heads that
// read this key head, and writes them as an operand. The numbers of these heads are whole blocks of 32 columns.
enum : int { no_operand, int8_operand, bfloat16_operand };
struct Then {
    int form;
    unsigned *arrived;  // a counter for each key head, 0 before and after a launch
    unsigned char *to;  // the operand
    int slabs;          // of a row of it
    const float *sinks;
};

// combine_after combines the splits of the heads of a key head, four numbers a thread at a time. It writes both
// forms itself: a function for each form would put combine_four twice into every kernel.
INLINE void combine_after(const Then &then, Splits s, unsigned rows, unsigned kv_head, unsigned sharing) {
    const unsigned first_seen = s.seen, numbers = s.heads * s.head_dim, from = kv_head * sharing * s.head_dim;
    unsigned end = from + sharing * s.head_dim;
    if (end == numbers) end = then.slabs * slab_columns;  // the zeros at the end of the row, too
    const unsigned fours = (end - from) / 4;              // a multiple of 8: eight threads share a head, and a block of the operand
    s.seen = first_seen + rows - 1;
    const int most = s.end() - s.first(first_seen);
    for (unsigned i = threadIdx.x; i < (rows * fours + warp_size - 1) / warp_size * warp_size; i += threads) {
        const bool exists = i < rows * fours;
        s.row = exists && rows > 1 ? i / fours : 0;
        s.seen = first_seen + s.row;
        const unsigned k = from + (i - s.row * fours) * 4;
        float values[4];
        combine_four(values, s, k / s.head_dim, k % s.head_dim, most, exists && k < numbers);
        if (then.form == int8_operand) {
            quantise_four(then.to, values, s.row, exists ? k / 4 : then.slabs * (slab_columns / 4), then.slabs);
        } else if (exists) {
            UNROLL for (int pair = 0; pair < 2; pair++)
                round_pair<false>(then.to + FloatActivations<false>::pair_offset(s.row, k / 2 + pair, then.slabs), values[2 * pair], values[2 * pair + 1]);
        }
    }
}

template <int key_dim, int value_dim, int tiles>
INLINE void attend(float *partial, float *stats, const float *q, half_bits *keys, half_bits *values, const int *length, int ahead, int rows,
                   const Sharing &by, int capacity, float scale, int window, float cap, const Fetched (&fetched)[most_fetched], const Then &then,
                   const Fresh &fresh = {}) {
    SHARED(float, before, [1]);
    if ((int)blockIdx.y >= by.kv_heads) return fetch_ahead(fetched, by.kv_heads);
    // The heads of a fresh row do not depend on its position: loading both at once waits for memory only once.
    Head<numbers_of(key_dim)> first;
    if (key_dim <= most_fresh && fresh.k && warp_id() < by.heads + 2) load_fresh<key_dim>(first, warp_id(), q, fresh, by.heads);
    const Columns s = columns_of(8 * tiles, length, ahead, rows, by, window);
    if (s.keys > 0) attend_split<key_dim, value_dim, tiles>(partial, stats, q, keys, values, s, capacity, scale, cap, fresh, first);
    if (value_dim % 32 != 0 || then.form == no_operand || !last_to_arrive(then.arrived + s.kv_head, gridDim.x * gridDim.z, before)) return;
    const Splits splits = {partial, stats, 0, s.first_position + 1, s.heads, value_dim, (int)gridDim.x, window, then.sinks};
    combine_after(then, splits, rows, s.kv_head, s.sharing);
}

// attend_half_* compute attention for `rows` rows of q (rows, heads·key_dim) over a layer's keys and
// values. A block takes split blockIdx.x, key head blockIdx.y, and the blockIdx.z-th 8·tiles of the
// head's rows·sharing columns. partial and stats are as in partial_of, with gridDim.x splits: at least as
// many as the last row needs. For inverse see Sharing, for form … sinks Then, for k … eps Fresh and Heads.
// Blocks with blockIdx.y ≥ kv_heads are extra: they only fetch the ranges that begin at w0 … w3 and have
// b0 … b3 bytes (fetch.h).
#define ATTEND_ARGUMENTS                                                                                                                    \
    float *partial, float *stats, const float *q, half_bits *keys, half_bits *values, const int *length, int ahead, int rows,               \
        int kv_heads, int sharing, unsigned inverse, int capacity, float scale, int window, float cap, int form, unsigned *arrived,         \
        unsigned char *to, int slabs, const float *sinks
#define FETCH_ARGUMENTS                                                                                                                     \
    const unsigned char *w0, int b0, const unsigned char *w1, int b1, const unsigned char *w2, int b2, const unsigned char *w3, int b3
#define FETCHED {{w0, b0}, {w1, b1}, {w2, b2}, {w3, b3}}
#define ATTEND_WIDE(key_dim, value_dim, tiles)                                                                                              \
    extern "C" __global__ void __launch_bounds__(threads) attend_half_##key_dim##_wide(ATTEND_ARGUMENTS, FETCH_ARGUMENTS) {                 \
        attend<key_dim, value_dim, tiles>(partial, stats, q, keys, values, length, ahead, rows, {kv_heads, sharing, inverse}, capacity,     \
            scale, window, cap, FETCHED, {form, arrived, to, slabs, sinks});                                                                \
    }                                                                                                                                       \
    EXPORT(attend_half_##key_dim##_wide)
#define ATTEND(head_dim, wide_tiles)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(threads)                                                                                   \
        attend_half_##head_dim(ATTEND_ARGUMENTS, const float *k, const float *v, const float *q_norm, const float *k_norm, const float *cos, \
                               const float *sin, int dim, int neox, float eps, FETCH_ARGUMENTS) {                                           \
        attend<head_dim, head_dim, 1>(partial, stats, q, keys, values, length, ahead, rows, {kv_heads, sharing, inverse}, capacity, scale,  \
            window, cap, FETCHED, {form, arrived, to, slabs, sinks}, {k, v, {q_norm, k_norm, cos, sin, head_dim, dim, neox, eps}});         \
    }                                                                                                                                       \
    EXPORT(attend_half_##head_dim)                                                                                                          \
    ATTEND_WIDE(head_dim, head_dim, wide_tiles)
// ATTEND defines two kernels. In the first a block takes one tile. It takes a fresh row if k is not null and heads
// have at most 256 numbers. In the second (wide) a block takes several tiles.
ATTEND(64, 4)
ATTEND(80, 4)
ATTEND(96, 4)
ATTEND(128, 4)
ATTEND(256, 2)
ATTEND(512, 2)
// Compressed keys are read by 16 query heads or more, so even one row has many columns. All columns of a block share
// the reading. Two tiles are as many as have room in 48 KiB of shared memory.
ATTEND_WIDE(576, 512, 2)

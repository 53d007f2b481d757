// Gated delta nets and Mamba-2. A head has a state, a matrix of key_dim × value_dim numbers, which every token
// changes: ref.DeltaNet and ref.Mamba2 say how. The tokens are computed one after the other, each with the
// same operations in the same order. So the bits of a token depend on the tokens before it alone, not on the
// passes that computed them.
//
// What a cache keeps of a layer:
//
//   state   the states as they were after the first `at` tokens: (heads, value_dim, pitch) float32, with
//           pitch = key_dim rounded up to a multiple of 4, and zeros at the end of each column
//   ring    inputs of later tokens, and of the kernel−1 tokens before them, which the convolution sees: rows of
//           the columns of x and the gates of all heads (alpha, beta). It has 2·(kept+kernel−1) rows.
//   numbers int32: how many tokens the cache has (position); at; the row of the ring for token `position`
//
// Token t before the pass is in the row of token `position` minus (position − t), modulo the number of rows.
// A pass adds the tokens at … position−1 to the state again, from the ring, and goes on with its own m tokens.
// It writes the state as it was after max(position, position+m−kept) tokens, and stores its last
// n = min(m, kept+kernel−1) inputs in the ring, from the row for `position` on. So the row for the end of the
// pass is n rows later. The ring is twice as long as what a pass reads, so no block writes what another reads.
// To take back tokens of the last pass, the host lowers position and the row; at stays.
//
// A block has 16 columns of a head's state. Its first warps have the columns in registers: eight lanes have a
// column, or two where keys are short. The other warps prepare the next tokens: they convolve, and normalise keys
// and queries.
#pragma once
#include "gpu.h"

constexpr int block_columns = 16, column_lanes = 8, recurrence_warps = 8;

// Layer is a layer's size and parameters.
struct Layer {
    int key_heads, heads, key_dim, value_dim, kernel, grouped, kept;
    const float *conv, *bias, *rate, *shift;  // bias: null without one
    float eps;
    INLINE_MEMBER int width() const { return 2 * key_heads * key_dim + heads * value_dim; }
    INLINE_MEMBER int key_head(int head) const { return grouped ? head * key_heads / heads : head % key_heads; }
    INLINE_MEMBER int pitch() const { return (key_dim + 3) / 4 * 4; }
};

// Head says which columns of an input belong to a block.
struct Head {
    int head, query, key, value;  // first columns of the query, the key, and the block's part of the value
    int columns;                  // of the value, that the block has
    INLINE_MEMBER Head(const Layer &l, bool delta) {
        head = blockIdx.y;
        const int first = blockIdx.x * block_columns, keys = l.key_heads * l.key_dim, own = l.key_head(head) * l.key_dim;
        columns = l.value_dim - first < block_columns ? l.value_dim - first : block_columns;
        query = (delta ? 0 : l.heads * l.value_dim + keys) + own;
        key = (delta ? keys : l.heads * l.value_dim) + own;
        value = (delta ? 2 * keys : 0) + head * l.value_dim + first;
    }
};

// Inputs finds the inputs of tokens: of this pass, or of earlier ones.
struct Inputs {
    const float *x, *alpha, *beta;  // beta: null in Mamba-2
    float *ring;
    int width, heads, row_numbers;  // row_numbers: of a row of the ring
    int m, position, at, slot, most, rows;  // most: inputs that are kept; rows: of the ring
    INLINE_MEMBER Inputs(const float *x, const float *alpha, const float *beta, float *ring, const int *numbers, int m, int width, int heads, int kept)
        : x(x), alpha(alpha), beta(beta), ring(ring), width(width), heads(heads), row_numbers(width + (beta ? 2 : alpha ? 1 : 0) * heads), m(m),
          position(numbers[0]), at(numbers[1]), slot(numbers[2]), most(kept), rows(2 * kept) {}
    INLINE_MEMBER int end() const { return position + m; }
    // earlier returns the row of the ring of a token before the pass.
    INLINE_MEMBER float *earlier(int token) const {
        int row = slot + token - position;
        return ring + (size_t)(row < 0 ? row + rows : row) * row_numbers;
    }
    INLINE_MEMBER const float *of(int token) const { return token < position ? earlier(token) : x + (size_t)(token - position) * width; }
    INLINE_MEMBER float alpha_of(int token, int head) const {
        return token < position ? earlier(token)[width + head] : alpha[(size_t)(token - position) * heads + head];
    }
    INLINE_MEMBER float beta_of(int token, int head) const {
        return token < position ? earlier(token)[width + heads + head] : beta[(size_t)(token - position) * heads + head];
    }
    // first_kept is the first row of the pass that is stored in the ring.
    INLINE_MEMBER int first_kept() const { return m < most ? 0 : m - most; }
    // later returns the row of the ring for a row of the pass.
    INLINE_MEMBER float *later(int i) const {
        int row = slot + i - first_kept();
        return ring + (size_t)(row < rows ? row : row - rows) * row_numbers;
    }
};

// softplus is ln(1+eˣ). With u = e^−|x| it is max(x, 0) + ln(1+u), and ln(1+u) = 2·artanh(z), z = u/(2+u). z is
// at most 1/3, so the series below ends at a relative error of 2⁻³⁰.
INLINE float softplus(float x) {
    const float u = exp_rn(x < 0 ? x : -x), z = divide_rn(u, 2.0f + u), square = z * z;
    float p = 1.0f / 17;
    UNROLL for (int n = 15; n > 0; n -= 2) p = fma_rn(p, square, 1.0f / n);
    return fma_rn(2.0f * z, p, x < 0 ? 0.0f : x);
}

// convolve sets sum[i] to column first + 32i of a token after the convolution, for the first n columns; the others
// become 0. The oldest token comes first, fused. Several tokens are loaded at once.
template <int count> INLINE void convolve(float (&sum)[count], const Inputs &in, const Layer &l, int token, int first, int n) {
    constexpr int at_once = count > 4 ? 2 : 4;
    UNROLL for (int i = 0; i < count; i++) sum[i] = l.bias && warp_size * i < n ? (l.bias + first)[warp_size * i] : 0.0f;
    UNROLL_BY(1) for (int from = 0; from < l.kernel; from += at_once) {
        float x[at_once][count], w[at_once][count];
        UNROLL for (int j = 0; j < at_once; j++) {
            const int seen = token - l.kernel + 1 + from + j;
            const bool exists = from + j < l.kernel && seen >= 0;
            const float *row = (exists ? in.of(seen) : in.x) + first, *weights = l.conv + first + (exists ? (size_t)(from + j) * in.width : 0);
            UNROLL for (int i = 0; i < count; i++) {
                const bool read = exists && warp_size * i < n;
                x[j][i] = read ? row[warp_size * i] : 0.0f;
                w[j][i] = read ? weights[warp_size * i] : 0.0f;
            }
        }
        UNROLL for (int j = 0; j < at_once; j++) {
            const bool exists = from + j < l.kernel && token - l.kernel + 1 + from + j >= 0;
            UNROLL for (int i = 0; i < count; i++) sum[i] = exists ? fma_rn(x[j][i], w[j][i], sum[i]) : sum[i];
        }
    }
    UNROLL for (int i = 0; i < count; i++) sum[i] = silu(sum[i]);
}

// Tokens are prepared tokens in shared memory. A key has `chunks` chunks of 32 numbers.
template <int chunks> struct Tokens {
    static constexpr int keys = 32 * chunks, stride = 2 * keys + block_columns + 4;
    static constexpr int at_once = chunks > 4 ? 8 : 16;
    static constexpr int lane_columns = chunks > 4 ? 1 : 2;  // more registers than that would spill
    static constexpr int state_warps = block_columns / lane_columns * column_lanes / warp_size, other_warps = recurrence_warps - state_warps;
    float *memory;
    INLINE_MEMBER float *key(int i) const { return memory + i * stride; }
    INLINE_MEMBER float *query(int i) const { return memory + i * stride + keys; }
    INLINE_MEMBER float *value(int i) const { return memory + i * stride + 2 * keys; }
    INLINE_MEMBER float &decay(int i) const { return memory[i * stride + 2 * keys + block_columns]; }
    INLINE_MEMBER float &strength(int i) const { return memory[i * stride + 2 * keys + block_columns + 1]; }
    INLINE_MEMBER float &product(int i) const { return memory[i * stride + 2 * keys + block_columns + 2]; }  // of query and key
};
constexpr int tokens_numbers = 8 * Tokens<8>::stride > 16 * Tokens<4>::stride ? 8 * Tokens<8>::stride : 16 * Tokens<4>::stride;

// prepare_key prepares query and key of a token. In a delta net both get length 1, and the query is divided
// by √key_dim. A warp calls it. A lane reads no other numbers than those that it wrote.
template <int chunks, bool delta> INLINE void prepare_key(const Tokens<chunks> &to, int i, const Inputs &in, const Layer &l, const Head &h, int token) {
    float *q = to.query(i) + lane_id(), *k = to.key(i) + lane_id();
    UNROLL_BY(1) for (int part = 0; part < 2; part++) {
        float mixed[chunks];
        convolve(mixed, in, l, token, (part ? h.key : h.query) + lane_id(), l.key_dim - lane_id());
        UNROLL for (int c = 0; c < chunks; c++) (part ? k : q)[warp_size * c] = mixed[c];
    }
    float qq = 0, kk = 0, qk = 0;
    UNROLL for (int c = 0; c < chunks; c++) {
        qk = fma_rn(q[warp_size * c], k[warp_size * c], qk);
        if (delta) {
            qq = fma_rn(q[warp_size * c], q[warp_size * c], qq);
            kk = fma_rn(k[warp_size * c], k[warp_size * c], kk);
        }
    }
    qk = warp_sum(qk);
    if (delta) {
        const float by_q = divide_rn(1.0f, sqrt_rn((warp_sum(qq) + l.eps) * (float)l.key_dim)), by_k = divide_rn(1.0f, sqrt_rn(warp_sum(kk) + l.eps));
        qk = qk * by_q * by_k;
        UNROLL for (int c = 0; c < chunks; c++) {
            q[warp_size * c] *= by_q;
            k[warp_size * c] *= by_k;
        }
    }
    if (lane_id() == 0) to.product(i) = qk;
}

// prepare_gates computes how much the state keeps of a token before, and how much it takes in.
template <int chunks, bool delta> INLINE void prepare_gates(const Tokens<chunks> &to, int i, const Inputs &in, const Layer &l, int head, int token) {
    const float step = softplus(in.alpha_of(token, head) + l.shift[head]);
    to.decay(i) = exp_rn(l.rate[head] * step);
    to.strength(i) = delta ? sigmoid(in.beta_of(token, head)) : step;
}

// prepare prepares n tokens from `first` on. The warps without states call it.
template <int chunks, bool delta>
INLINE void prepare(const Tokens<chunks> &to, const Inputs &in, const Layer &l, const Head &h, int first, int n) {
    constexpr int together = warp_size / block_columns;  // tokens whose values a warp prepares together
    const int values = (n + together - 1) / together;
    UNROLL_BY(1) for (int task = warp_id() - to.state_warps; task < n + values + 1; task += to.other_warps) {
        if (task < n) {
            prepare_key<chunks, delta>(to, task, in, l, h, first + task);
        } else if (task < n + values) {
            const int i = (task - n) * together + lane_id() / block_columns, column = lane_id() % block_columns;
            float v[1];
            if (i < n) {
                convolve(v, in, l, first + i, h.value + column, h.columns - column);
                to.value(i)[column] = v[0];
            }
        } else if (lane_id() < n) {
            prepare_gates<chunks, delta>(to, lane_id(), in, l, h.head, first + lane_id());
        }
    }
}

// store_inputs stores the last inputs of the pass, each block some columns. The warps without states call it.
template <int chunks> INLINE void store_inputs(const Inputs &in) {
    constexpr int threads = Tokens<chunks>::other_warps * warp_size;
    const int thread = threadIdx.x - Tokens<chunks>::state_warps * warp_size;
    const int block = blockIdx.y * gridDim.x + blockIdx.x, blocks = gridDim.x * gridDim.y;
    UNROLL_BY(1) for (int k = block * threads + thread; k < in.row_numbers; k += blocks * threads) {
        UNROLL_BY(1) for (int i = in.first_kept(); i < in.m; i++) {
            const int gate = k - in.width;
            in.later(i)[k] = gate < 0 ? in.x[(size_t)i * in.width + k]
                : gate < in.heads     ? in.alpha[(size_t)i * in.heads + gate]
                                      : in.beta[(size_t)i * in.heads + gate - in.heads];
        }
    }
}

// State is a lane's part of its columns of a state: of each column the numbers 32c + 4g … 32c + 4g + 3, where
// g is the lane's number among those of the column.
template <int chunks> struct State {
    static constexpr int lane_columns = Tokens<chunks>::lane_columns;
    float s[lane_columns][4 * chunks];
    float *memory;  // of the first column
    int g, first, columns, pitch;  // first: the lane's first column in the block; columns: of the block
    INLINE_MEMBER State(float *states, const Layer &l, const Head &h, bool fresh, bool exists) {
        g = lane_id() % column_lanes;
        first = (warp_id() * (warp_size / column_lanes) + lane_id() / column_lanes) * lane_columns;
        columns = exists ? h.columns : 0;
        pitch = l.pitch();
        memory = states + ((size_t)h.head * l.value_dim + blockIdx.x * block_columns + first) * pitch;
        each([&](int j, int c, float *from) {
            const float4 v = *(const float4 *)from;
            s[j][4 * c] = v.x, s[j][4 * c + 1] = v.y, s[j][4 * c + 2] = v.z, s[j][4 * c + 3] = v.w;
        });
        // The loads begin before it is known whether their results are needed.
        UNROLL for (int j = 0; j < lane_columns; j++)
            UNROLL for (int i = 0; i < 4 * chunks; i++)
                if (fresh || first + j >= columns || i / 4 * 32 + 4 * g >= pitch) s[j][i] = 0.0f;
    }
    // each calls see(j, c, p) for chunk c of the lane's column j, if it exists, at p in memory.
    template <class See> INLINE_MEMBER void each(const See &see) {
        UNROLL for (int j = 0; j < lane_columns; j++)
            UNROLL for (int c = 0; c < chunks; c++)
                if (first + j < columns && 32 * c + 4 * g < pitch) see(j, c, memory + (size_t)j * pitch + 32 * c + 4 * g);
    }
    INLINE_MEMBER void store() {
        each([&](int j, int c, float *to) { *(float4 *)to = float4{s[j][4 * c], s[j][4 * c + 1], s[j][4 * c + 2], s[j][4 * c + 3]}; });
    }
};

// column_sum adds the lanes of a column by butterflies.
INLINE float column_sum(float v) {
    UNROLL for (int o = column_lanes / 2; o > 0; o /= 2) v += __shfl_xor_sync(full_warp, v, o);
    return v;
}

// step changes the state by token i, and sets out to what the token's query reads from it. The sums of the
// state before the token are enough for both: Sᵀq = decay·S₀ᵀq + (q·k)·change.
template <int chunks, bool delta> INLINE void step(float (&out)[State<chunks>::lane_columns], State<chunks> &state, const Tokens<chunks> &tokens, int i, float skip) {
    const float *keys = tokens.key(i) + 4 * state.g, *queries = tokens.query(i) + 4 * state.g;
    constexpr int lane_columns = State<chunks>::lane_columns;
    float recalled[lane_columns] = {0}, read[lane_columns] = {0}, change[lane_columns];
    UNROLL for (int c = 0; c < chunks; c++) {
        const float4 k = *(const float4 *)(keys + 32 * c), q = *(const float4 *)(queries + 32 * c);
        const float ks[4] = {k.x, k.y, k.z, k.w}, qs[4] = {q.x, q.y, q.z, q.w};
        UNROLL for (int e = 0; e < 4; e++)
            UNROLL for (int j = 0; j < lane_columns; j++) {
                if (delta) recalled[j] = fma_rn(state.s[j][4 * c + e], ks[e], recalled[j]);
                read[j] = fma_rn(state.s[j][4 * c + e], qs[e], read[j]);
            }
    }
    const float decay = tokens.decay(i), strength = tokens.strength(i), product = tokens.product(i);
    UNROLL for (int j = 0; j < lane_columns; j++) {
        const float v = tokens.value(i)[state.first + j];
        change[j] = delta ? strength * (v - decay * column_sum(recalled[j])) : strength * v;
        out[j] = fma_rn(product, change[j], decay * column_sum(read[j]));
        if (!delta) out[j] = fma_rn(skip, v, out[j]);
    }
    UNROLL for (int c = 0; c < chunks; c++) {
        const float4 k = *(const float4 *)(keys + 32 * c);
        const float ks[4] = {k.x, k.y, k.z, k.w};
        UNROLL for (int e = 0; e < 4; e++)
            UNROLL for (int j = 0; j < lane_columns; j++) state.s[j][4 * c + e] = fma_rn(ks[e], change[j], decay * state.s[j][4 * c + e]);
    }
}

// recur computes a block's columns of a head for all tokens. room is shared memory for two turns of tokens: one
// is computed while the next is prepared.
template <int chunks, bool delta> INLINE void recur(float *dst, float *states, const Inputs &in, const Layer &l, const float *skip, float *room) {
    using Prepared = Tokens<chunks>;
    const Head h(l, delta);
    auto most = [&](int first) { return in.end() - first < Prepared::at_once ? in.end() - first : Prepared::at_once; };
    const bool has_state = warp_id() < Prepared::state_warps;
    const int final = in.m > l.kept ? in.end() - l.kept : in.position;
    const float skipped = delta ? 0.0f : skip[h.head];
    State<chunks> state(states, l, h, in.at == 0, has_state);
    UNROLL_BY(1) for (int first = in.at - Prepared::at_once, turn = 0; first < in.end(); first += Prepared::at_once, turn ^= 1) {
        const int next = first + Prepared::at_once;
        if (!has_state) {
            if (first == in.at) store_inputs<chunks>(in);
            if (next < in.end()) prepare<chunks, delta>({room + turn * tokens_numbers}, in, l, h, next, most(next));
        } else if (first >= in.at) {
            const Prepared tokens = {room + (turn ^ 1) * tokens_numbers};
            UNROLL_BY(1) for (int i = 0; i < most(first); i++) {
                const int token = first + i, column = state.first + state.g;
                if (token == final) state.store();
                float out[Prepared::lane_columns];
                step<chunks, delta>(out, state, tokens, i, skipped);
                if (token >= in.position && state.g < Prepared::lane_columns && column < h.columns)
                    dst[((size_t)(token - in.position) * l.heads + h.head) * l.value_dim + blockIdx.x * block_columns + column] = state.g ? out[Prepared::lane_columns - 1] : out[0];
            }
        }
        __syncthreads();
    }
}

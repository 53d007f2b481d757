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
// A block has 16 columns of a head's state. Its first four warps have the columns in registers, each column in
// eight lanes. The other warps prepare the next tokens: they convolve, and normalise keys and queries.
#pragma once
#include "gpu.h"

constexpr int block_columns = 16, column_lanes = 8;
constexpr int state_warps = block_columns * column_lanes / warp_size, other_warps = 4, recurrence_warps = state_warps + other_warps;

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

// Tokens are prepared tokens in shared memory. A key has `chunks` chunks of 32 numbers.
template <int chunks> struct Tokens {
    static constexpr int keys = 32 * chunks, stride = 2 * keys + block_columns + 4;
    static constexpr int at_once = chunks > 4 ? 8 : 16;
    float *memory;
    INLINE_MEMBER float *key(int i) const { return memory + i * stride; }
    INLINE_MEMBER float *query(int i) const { return memory + i * stride + keys; }
    INLINE_MEMBER float *value(int i) const { return memory + i * stride + 2 * keys; }
    INLINE_MEMBER float &decay(int i) const { return memory[i * stride + 2 * keys + block_columns]; }
    INLINE_MEMBER float &strength(int i) const { return memory[i * stride + 2 * keys + block_columns + 1]; }
    INLINE_MEMBER float &product(int i) const { return memory[i * stride + 2 * keys + block_columns + 2]; }  // of query and key
};
constexpr int tokens_numbers = 8 * Tokens<8>::stride > 16 * Tokens<4>::stride ? 8 * Tokens<8>::stride : 16 * Tokens<4>::stride;

// Most convolutions see usual_kernel tokens. Then a block keeps its columns' weights of the convolution in shared
// memory (near), with a row for each of these tokens. A row has the order of Tokens: the weights of the key, of
// the query, of the value.
constexpr int usual_kernel = 4;

// load_near copies the block's weights of the convolution to near.
template <int chunks> INLINE void load_near(float *near, const Layer &l, const Head &h) {
    constexpr int keys = Tokens<chunks>::keys, stride = Tokens<chunks>::stride;
    UNROLL_BY(1) for (int i = threadIdx.x; i < stride; i += recurrence_warps * warp_size) {
        const int number = i < keys ? i : i < 2 * keys ? i - keys : i - 2 * keys, first = i < keys ? h.key : i < 2 * keys ? h.query : h.value;
        if (number < (i < 2 * keys ? l.key_dim : h.columns))
            UNROLL for (int j = 0; j < usual_kernel; j++) near[j * stride + i] = l.conv[(size_t)j * l.width() + first + number];
    }
}

// convolve writes to to[k] column first + k of a token after the convolution, for k = from, from + 32, …, or 0 where
// k ≥ n. It adds the oldest token first, by fused steps. near points to the weights of column `first`.
template <int count, int stride>
INLINE void convolve(float *to, const Inputs &in, const Layer &l, const float *near, int token, int first, int from, int n) {
    const float *bias = l.bias + first;
    int k[count];
    float sum[count];
    UNROLL for (int i = 0; i < count; i++) k[i] = from + warp_size * i < n ? from + warp_size * i : 0;
    UNROLL for (int i = 0; i < count; i++) sum[i] = 0.0f;
    if (l.bias) UNROLL for (int i = 0; i < count; i++) sum[i] = bias[k[i]];
    if (l.kernel == usual_kernel && token >= usual_kernel - 1) {  // everything is loaded before anything is used
        float x[usual_kernel][count];
        UNROLL for (int j = 0; j < usual_kernel; j++) {
            const float *row = in.of(token - usual_kernel + 1 + j) + first;
            UNROLL for (int i = 0; i < count; i++) x[j][i] = row[k[i]];
        }
        UNROLL for (int j = 0; j < usual_kernel; j++)
            UNROLL for (int i = 0; i < count; i++) sum[i] = fma_rn(x[j][i], near[j * stride + k[i]], sum[i]);
    } else {
        UNROLL_BY(1) for (int j = token < l.kernel - 1 ? l.kernel - 1 - token : 0; j < l.kernel; j++) {
            const float *row = in.of(token - l.kernel + 1 + j) + first, *weights = l.conv + (size_t)j * in.width + first;
            UNROLL for (int i = 0; i < count; i++) sum[i] = fma_rn(row[k[i]], weights[k[i]], sum[i]);
        }
    }
    UNROLL for (int i = 0; i < count; i++) to[from + warp_size * i] = from + warp_size * i < n ? silu(sum[i]) : 0.0f;
}

// prepare_key writes to token i of `to` the query and the key after the convolution, and their product. In a
// delta net both get length 1, and the query is divided by √key_dim. A warp calls it. A lane reads no other
// numbers than those that it wrote.
template <int chunks, bool delta> INLINE void prepare_key(const Tokens<chunks> &to, int i, const Inputs &in, const Layer &l, const Head &h, const float *near, int token) {
    float *q = to.query(i) + lane_id(), *k = to.key(i) + lane_id();
    constexpr int at_once = chunks == 4 ? 4 : 2;
    UNROLL_BY(1) for (int c = 0; c < 2 * chunks; c += at_once) {  // parts of the key, then of the query
        const int of = c / chunks, begin = of * Tokens<chunks>::keys;
        convolve<at_once, Tokens<chunks>::stride>(to.key(i) + begin, in, l, near + begin, token, h.key + of * (h.query - h.key),
                                                  lane_id() + warp_size * c - begin, l.key_dim);
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

// prepare_gates computes how much the state keeps of earlier tokens, and how much it takes in of this token.
template <int chunks, bool delta> INLINE void prepare_gates(const Tokens<chunks> &to, int i, const Inputs &in, const Layer &l, int head, int token) {
    const float step = softplus(in.alpha_of(token, head) + l.shift[head]);
    to.decay(i) = exp_rn(l.rate[head] * step);
    to.strength(i) = delta ? sigmoid(in.beta_of(token, head)) : step;
}

// prepare writes to `to` the queries, keys, values and gates of n tokens, from token `first` on. The warps
// without states call it.
template <int chunks, bool delta>
INLINE void prepare(const Tokens<chunks> &to, const Inputs &in, const Layer &l, const Head &h, const float *near, int first, int n) {
    constexpr int together = warp_size / block_columns;  // tokens whose values a warp prepares together
    const int values = (n + together - 1) / together;
    UNROLL_BY(1) for (int task = warp_id() - state_warps; task < n + values + 1; task += other_warps) {
        if (task < n) {
            prepare_key<chunks, delta>(to, task, in, l, h, near, first + task);
        } else if (task < n + values) {
            const int i = (task - n) * together + lane_id() / block_columns, column = lane_id() % block_columns;
            if (i < n) convolve<1, Tokens<chunks>::stride>(to.value(i), in, l, near + 2 * to.keys, first + i, h.value, column, h.columns);
        } else if (lane_id() < n) {
            prepare_gates<chunks, delta>(to, lane_id(), in, l, h.head, first + lane_id());
        }
    }
}

// store_inputs stores the last inputs of the pass, each block some columns. The warps without states call it.
INLINE void store_inputs(const Inputs &in) {
    constexpr int threads = other_warps * warp_size;
    const int thread = threadIdx.x - state_warps * warp_size;
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

// State is a lane's part of a column of a state: the numbers 32c + 4g … 32c + 4g + 3, where g is the lane's number
// among those of the column.
template <int chunks> struct State {
    float s[4 * chunks];
    float *memory;  // of the column
    int g, column, numbers;  // column: in the block; numbers: of the column, 0 if it does not exist
    INLINE_MEMBER State(float *states, const Layer &l, const Head &h, bool fresh) {
        g = lane_id() % column_lanes;
        column = warp_id() * (warp_size / column_lanes) + lane_id() / column_lanes;
        numbers = column < h.columns ? l.pitch() : 0;
        memory = states + ((size_t)h.head * l.value_dim + blockIdx.x * block_columns + column) * l.pitch();
        each([&](int c, float *from) {
            const float4 v = *(const float4 *)from;
            s[4 * c] = v.x, s[4 * c + 1] = v.y, s[4 * c + 2] = v.z, s[4 * c + 3] = v.w;
        });
        // The loads begin before it is known whether their results are needed.
        UNROLL for (int i = 0; i < 4 * chunks; i++)
            if (fresh || i / 4 * 32 + 4 * g >= numbers) s[i] = 0.0f;
    }
    // each calls see(c, p) for the lane's chunk c, if it exists, at p in memory.
    template <class See> INLINE_MEMBER void each(const See &see) {
        UNROLL for (int c = 0; c < chunks; c++)
            if (32 * c + 4 * g < numbers) see(c, memory + 32 * c + 4 * g);
    }
    INLINE_MEMBER void store() {
        each([&](int c, float *to) { *(float4 *)to = float4{s[4 * c], s[4 * c + 1], s[4 * c + 2], s[4 * c + 3]}; });
    }
};

// column_sum adds the lanes of a column by butterflies.
INLINE float column_sum(float v) {
    UNROLL for (int o = column_lanes / 2; o > 0; o /= 2) v += __shfl_xor_sync(full_warp, v, o);
    return v;
}

// step changes the state by token i, and returns what the token's query q reads from the changed state. Sums over
// S₀, the state before the token, are enough for both. With S the state after it and k the token's key,
// Sᵀq = decay·S₀ᵀq + (q·k)·change.
template <int chunks, bool delta> INLINE float step(State<chunks> &state, const Tokens<chunks> &tokens, int i, float skip) {
    const float *keys = tokens.key(i) + 4 * state.g, *queries = tokens.query(i) + 4 * state.g;
    const float decay = tokens.decay(i), strength = tokens.strength(i), v = tokens.value(i)[state.column];
    float recalled = 0, read = 0, k[4 * chunks];
    UNROLL for (int c = 0; c < chunks; c++) {
        const float4 key = *(const float4 *)(keys + 32 * c), query = *(const float4 *)(queries + 32 * c);
        const float q[4] = {query.x, query.y, query.z, query.w};
        k[4 * c] = key.x, k[4 * c + 1] = key.y, k[4 * c + 2] = key.z, k[4 * c + 3] = key.w;
        UNROLL for (int e = 0; e < 4; e++) {
            if (delta) recalled = fma_rn(state.s[4 * c + e], k[4 * c + e], recalled);
            read = fma_rn(state.s[4 * c + e], q[e], read);
        }
    }
    const float change = delta ? strength * (v - decay * column_sum(recalled)) : strength * v;
    UNROLL for (int n = 0; n < 4 * chunks; n++) state.s[n] = fma_rn(k[n], change, decay * state.s[n]);
    const float out = fma_rn(tokens.product(i), change, decay * column_sum(read));
    return delta ? out : fma_rn(skip, v, out);
}

// recur computes a block's columns of a head for all tokens. room is shared memory for two turns of tokens: one
// is computed while the next is prepared.
template <int chunks, bool delta> INLINE void recur(float *dst, float *states, const Inputs &in, const Layer &l, const float *skip, float *room, float *near) {
    using Prepared = Tokens<chunks>;
    const Head h(l, delta);
    auto most = [&](int first) { return in.end() - first < Prepared::at_once ? in.end() - first : Prepared::at_once; };
    const bool has_state = warp_id() < state_warps;
    const int final = in.m > l.kept ? in.end() - l.kept : in.position;
    const float skipped = delta ? 0.0f : skip[h.head];
    State<chunks> state(states, l, h, in.at == 0);
    if (l.kernel == usual_kernel) load_near<chunks>(near, l, h);
    __syncthreads();
    dst += (size_t)h.head * l.value_dim + blockIdx.x * block_columns + state.column;
    UNROLL_BY(1) for (int first = in.at - Prepared::at_once, turn = 0; first < in.end(); first += Prepared::at_once, turn ^= 1) {
        const int next = first + Prepared::at_once;
        if (!has_state) {
            if (first == in.at) store_inputs(in);
            if (next < in.end()) prepare<chunks, delta>({room + turn * tokens_numbers}, in, l, h, near, next, most(next));
        } else if (first >= in.at) {
            const Prepared tokens = {room + (turn ^ 1) * tokens_numbers};
            UNROLL_BY(1) for (int i = 0; i < most(first); i++) {
                if (first + i == final) state.store();
                const float out = step<chunks, delta>(state, tokens, i, skipped);
                const int row = first + i - in.position;
                if (row >= 0 && state.g == 0 && state.column < h.columns) dst[(size_t)row * l.heads * l.value_dim] = out;
            }
        }
        __syncthreads();
    }
}

// The places where threads wait for each other: barriers of a block, collectives of a warp, and tensor
// cores, which a whole warp uses.
#include "machine.h"

#include <cmath>

namespace emulator {

void open_barrier() {
    for (unsigned i = 0; i < machine->threads; i++)
        if (machine->fibers[i].state == State::at_barrier) machine->fibers[i].state = State::ready;
    machine->waiting = 0;
}

void barrier(const char *at) {
    Fiber *self = machine->running;
    self->state = State::at_barrier;
    self->at = at;
    happens_before(&machine->barrier_passed[machine->parity]);
    if (++machine->waiting == machine->alive) open_barrier();
    if (self->state == State::at_barrier) leave();
    happens_after(&machine->barrier_passed[machine->parity]);
}

// An atomic alone orders nothing. Writes of a thread before a fence and a later atomic are visible
// to a thread after its own atomic on the same address and a later fence.
void fence() {
    Fiber *self = machine->running;
    if (self->touched) happens_after(self->touched);
    self->fenced = true;
}

void atomic(void *address) {
    Fiber *self = machine->running;
    if (self->fenced) happens_before(address);
    self->touched = address;
}

// collective waits for the lanes of mask, and returns the result of the operation for this lane.
uint64_t collective(Collective what, uint32_t mask, uint64_t value, int argument, const char *at) {
    Fiber *self = machine->running;
    unsigned thread = number_of(self), lane = thread % lanes, first = thread - lane;
    Warp &warp = machine->warps[thread / lanes];
    unsigned present = std::min(lanes, machine->threads - first);
    uint32_t exist = present == lanes ? ~0u : (1u << present) - 1;
    mask &= exist;
    if (!(mask >> lane & 1)) fail(at, "a lane takes part in a collective whose mask leaves it out");
    unsigned parity = warp.turn[lane]++ % 2;
    if (warp.arrived == 0) {
        warp.what = what;
        warp.needed = mask;
    } else if (warp.what != what || warp.needed != mask) {
        fail(at, "lanes of one warp are at different collectives");
    }
    warp.value[parity][lane] = value;
    warp.arrived |= 1u << lane;
    happens_before(&warp.synchronised[machine->parity]);
    if (warp.arrived == warp.needed) {
        warp.arrived = 0;
        for (unsigned i = 0; i < present; i++) {
            Fiber &other = machine->fibers[first + i];
            if (other.state == State::in_collective && (mask >> i & 1)) other.state = State::ready;
        }
    } else {
        self->state = State::in_collective;
        self->at = at;
        leave();
    }
    happens_after(&warp.synchronised[machine->parity]);

    int from = (int)lane;
    switch (what) {
    case Collective::shuffle_xor: from = (int)lane ^ argument; break;
    case Collective::shuffle_up: from = (int)lane - argument < 0 ? (int)lane : (int)lane - argument; break;
    case Collective::shuffle_down: from = lane + argument >= lanes ? (int)lane : (int)lane + argument; break;
    case Collective::shuffle: from = argument & (lanes - 1); break;
    case Collective::ballot: {
        uint64_t votes = 0;
        for (unsigned i = 0; i < present; i++)
            if ((mask >> i & 1) && warp.value[parity][i]) votes |= 1u << i;
        return votes;
    }
    default: break;
    }
    if (!(mask >> from & 1)) fail(at, "a shuffle reads a lane that its mask leaves out");
    return warp.value[parity][from];
}

// multiply_tiles adds each product by a fused multiply-add, in ascending order of the inner index. Tensor
// cores use another order, so results of a GPU and of the emulator may differ in their last bits.
void multiply_tiles(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], float (*widen)(unsigned short), const char *at) {
    unsigned thread = number_of(machine->running), lane = thread % lanes;
    Warp &warp = machine->warps[thread / lanes];
    auto &tile = warp.tile[warp.turn[lane] % 2];
    unsigned row = lane / 4, pair = lane % 4 * 2;
    for (unsigned i = 0; i < 8; i++)
        tile.a[row + i / 2 % 2 * 8][pair + i / 4 * 8 + i % 2] = widen((unsigned short)(a[i / 2] >> 16 * (i % 2)));
    for (unsigned i = 0; i < 4; i++) tile.b[row][pair + i / 2 * 8 + i % 2] = widen((unsigned short)(b[i / 2] >> 16 * (i % 2)));
    collective(Collective::matrix, ~0u, 0, 0, at);
    for (unsigned k = 0; k < 16; k++)
        for (unsigned e = 0; e < 4; e++) d[e] = __builtin_fmaf(tile.a[row + e / 2 * 8][k], tile.b[pair + e % 2][k], d[e]);
}

namespace {

// dot is not inlined: if GCC knew that inner is 16 or 32, it would write out each product.
__attribute__((noinline)) int dot(const int16_t *a, const int16_t *b, unsigned inner) {
    if (inner % 16) __builtin_unreachable();
    int sum = 0;
    for (unsigned i = 0; i < inner; i++) sum += a[i] * b[i];
    return sum;
}

void widen_bytes(int16_t *to, unsigned four) {
    for (unsigned i = 0; i < 4; i++) to[i] = (int8_t)(four >> 8 * i);
}

}  // namespace

// multiply_byte_tiles does both shapes: the inner axis has 32 or 16 numbers, four per register.
void multiply_byte_tiles(int (&d)[4], const unsigned *a, const unsigned *b, const int (&c)[4], unsigned inner, const char *at) {
    unsigned thread = number_of(machine->running), lane = thread % lanes;
    Warp &warp = machine->warps[thread / lanes];
    auto &tile = warp.bytes[warp.turn[lane] % 2];
    unsigned row = lane / 4, four = lane % 4 * 4;
    for (unsigned i = 0; i < inner / 8; i++) widen_bytes(&tile.a[row + i % 2 * 8][four + i / 2 * 16], a[i]);
    for (unsigned i = 0; i < inner / 16; i++) widen_bytes(&tile.b[row][four + i * 16], b[i]);
    collective(Collective::matrix, ~0u, 0, (int)inner, at);
    for (unsigned e = 0; e < 4; e++) {
        const int16_t *of_a = tile.a[row + e / 2 * 8], *of_b = tile.b[lane % 4 * 2 + e % 2];
        d[e] = (int)((unsigned)c[e] + (unsigned)dot(of_a, of_b, inner));
    }
}

}  // namespace emulator

// The fiber scheduler behind src/emulate.h.
//
// A block's threads are fibers of one OS thread. A fiber runs until it waits: at a barrier for all threads that are still alive, at
// a collective for the other lanes of its warp. The scheduler goes round the warps, and in a warp round the lanes, in order,
// or in an order drawn by a seed. Nothing runs at the same time, so a result is the same in every run of one seed; what a race
// would change, another seed changes.
#include "../src/emulate.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif
// Races are watched by the thread sanitizer: kernels are compiled with it and this file without it, so that what the scheduler
// itself does is no event. -DWATCH_RACES says so here.
#if defined(WATCH_RACES)
#include <sanitizer/tsan_interface.h>
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

namespace emulator {

thread_local Place *place;
const Kernel *kernels;

namespace {

constexpr size_t stack_bytes = 64 << 10;
constexpr unsigned most_threads = 1024, lanes = 32;
constexpr size_t dynamic_most = 227 << 10, static_most = 48 << 10;

enum class State { ready, at_barrier, in_collective, done };

struct Copy { void *to; const void *from; int group; };

struct Fiber {
    void *stack_pointer;
    Place place;
    State state;
    const char *at;              // where it waits
    int group;                   // of the next asynchronous copy
    std::vector<Copy> copies;    // under way
    bool fenced;                 // has passed a fence
    void *touched;               // what its latest atomic was on
#if THREAD_SANITIZER
    void *sanitizer[2];          // by the block's parity
#endif
};

struct Warp {
    Collective what;
    uint32_t needed, arrived;
    unsigned turn[lanes];        // collectives passed, by lane
    uint64_t value[2][lanes];    // by turn's parity: a fast lane may already be at the next one
    struct { unsigned a[4], b[2]; } tile[2][lanes];
    char synchronised;           // an address for the thread sanitizer
};

struct Array { const void *key; void *memory; };

struct Machine {
    unsigned char *stacks, *dynamic_memory, *static_memory;
    size_t static_used, dynamic_used;
    std::vector<Array> arrays;
    Fiber fibers[most_threads];
    Warp warps[most_threads / lanes];
    unsigned threads, alive, waiting;
    Fiber *running;
    void *scheduler_stack;
    const Kernel *kernel;
    void **values;
    uint64_t random;             // 0: in order
    bool failed;
    char error[512];
    char barrier_passed, launched, finished;
#if ADDRESS_SANITIZER
    const void *scheduler_bottom;
    size_t scheduler_size;
    void *scheduler_fake;
#endif
#if THREAD_SANITIZER
    void *scheduler_fiber;
    unsigned parity;             // neighbouring blocks are different threads to the sanitizer, on different stacks
#endif
};

thread_local Machine *machine;

void happens_before([[maybe_unused]] void *address) {
#if THREAD_SANITIZER
    __tsan_release(address);
#endif
}
void happens_after([[maybe_unused]] void *address) {
#if THREAD_SANITIZER
    __tsan_acquire(address);
#endif
}

// switch_stacks saves the registers that a call must keep on the stack, exchanges stacks and takes them back there.
extern "C" void emulator_switch_stacks(void **save, void *load);
#if defined(__x86_64__)
constexpr size_t frame_bytes = 8 * 8;
asm(R"(
.text
.globl emulator_switch_stacks
.type emulator_switch_stacks,@function
emulator_switch_stacks:
	pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
	ret
.size emulator_switch_stacks,.-emulator_switch_stacks
)");
void *first_frame(unsigned char *top, void (*entry)()) {
    auto frame = (void **)(top - frame_bytes);
    std::memset((void *)frame, 0, frame_bytes);
    frame[6] = (void *)entry;    // behind the six registers; above it a zero as the return address of entry
    return (void *)frame;
}
#elif defined(__aarch64__)
constexpr size_t frame_bytes = 160;
asm(R"(
.text
.globl emulator_switch_stacks
.type emulator_switch_stacks,@function
emulator_switch_stacks:
	stp x29, x30, [sp, #-160]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp d8, d9, [sp, #96]
	ldp d10, d11, [sp, #112]
	ldp d12, d13, [sp, #128]
	ldp d14, d15, [sp, #144]
	ldp x29, x30, [sp], #160
	ret
.size emulator_switch_stacks,.-emulator_switch_stacks
)");
void *first_frame(unsigned char *top, void (*entry)()) {
    unsigned char *frame = top - frame_bytes;
    std::memset(frame, 0, frame_bytes);
    ((void **)frame)[1] = (void *)entry;    // x30
    return frame;
}
#else
#error "the emulator switches stacks on x86-64 and arm64 only"
#endif

unsigned char *stack_of(size_t fiber) {
#if THREAD_SANITIZER
    fiber += machine->parity * most_threads;
#endif
    return machine->stacks + fiber * stack_bytes;
}

// leave gives the processor back to the scheduler.
void leave() {
    Fiber *self = machine->running;
#if THREAD_SANITIZER
    __tsan_switch_to_fiber(machine->scheduler_fiber, __tsan_switch_to_fiber_no_sync);
#endif
#if ADDRESS_SANITIZER
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(self->state == State::done ? nullptr : &fake, machine->scheduler_bottom, machine->scheduler_size);
#endif
    emulator_switch_stacks(&self->stack_pointer, machine->scheduler_stack);
#if ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake, &machine->scheduler_bottom, &machine->scheduler_size);
#endif
}

// resume lets a fiber run until it waits or ends.
void resume(unsigned i) {
    Fiber *fiber = &machine->fibers[i];
    machine->running = fiber;
    place = &fiber->place;
#if THREAD_SANITIZER
    __tsan_switch_to_fiber(fiber->sanitizer[machine->parity], __tsan_switch_to_fiber_no_sync);
#endif
#if ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&machine->scheduler_fake, stack_of(i), stack_bytes);
#endif
    emulator_switch_stacks(&machine->scheduler_stack, fiber->stack_pointer);
#if ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(machine->scheduler_fake, nullptr, nullptr);
#endif
}

void entry() {
#if ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(nullptr, &machine->scheduler_bottom, &machine->scheduler_size);
#endif
    happens_after(&machine->launched);
    machine->kernel->call(machine->values);
    happens_before(&machine->finished);
    machine->running->state = State::done;
    for (;;) leave();
}

unsigned number_of(const Fiber *fiber) { return (unsigned)(fiber - machine->fibers); }

// complain notes the first error of a launch.
void complain(const char *format, ...) {
    if (machine->failed) return;
    machine->failed = true;
    int n = 0;
    if (machine->running) {
        const Index &b = machine->running->place.block;
        n = snprintf(machine->error, sizeof machine->error, "block (%u,%u,%u), thread %u: ", b.x, b.y, b.z, number_of(machine->running));
    }
    va_list list;
    va_start(list, format);
    vsnprintf(machine->error + n, sizeof machine->error - n, format, list);
    va_end(list);
}

// stop ends the fiber that runs, and with it the launch.
[[noreturn]] void stop() {
    for (;;) leave();
}

uint64_t draw() {
    uint64_t &s = machine->random;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

void open_barrier() {
    for (unsigned i = 0; i < machine->threads; i++)
        if (machine->fibers[i].state == State::at_barrier) machine->fibers[i].state = State::ready;
    machine->waiting = 0;
}

}  // namespace

[[noreturn]] void fail(const char *at, const char *what) {
    complain("%s: %s", at, what);
    stop();
}

void barrier(const char *at) {
    Fiber *self = machine->running;
    self->state = State::at_barrier;
    self->at = at;
    happens_before(&machine->barrier_passed);
    if (++machine->waiting == machine->alive) open_barrier();
    if (self->state == State::at_barrier) leave();
    happens_after(&machine->barrier_passed);
}

// An atomic orders nothing by itself. What a thread did before a fence and an atomic behind it is seen by a thread that has a fence behind
// an atomic on the same address.
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

// collective meets the lanes of mask and returns what the operation gives this lane.
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
    happens_before(&warp.synchronised);
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
    happens_after(&warp.synchronised);

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

// multiply_tiles adds in ascending order of the inner index, fused. Tensor cores use an order of their own, so that only runs on the
// same kind of machine are equal bit for bit.
void multiply_tiles(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], float (*widen)(unsigned short), const char *at) {
    unsigned thread = number_of(machine->running), lane = thread % lanes;
    Warp &warp = machine->warps[thread / lanes];
    auto &tile = warp.tile[warp.turn[lane] % 2];
    std::memcpy(tile[lane].a, a, sizeof a);
    std::memcpy(tile[lane].b, b, sizeof b);
    collective(Collective::matrix, ~0u, 0, 0, at);
    for (unsigned e = 0; e < 4; e++) {
        unsigned row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
        float sum = d[e];
        for (unsigned k = 0; k < 16; k++) {
            unsigned pair_a = tile[row % 8 * 4 + k % 8 / 2].a[row / 8 + 2 * (k / 8)];
            unsigned pair_b = tile[column * 4 + k % 8 / 2].b[k / 8];
            sum = __builtin_fmaf(widen((unsigned short)(pair_a >> 16 * (k % 2))), widen((unsigned short)(pair_b >> 16 * (k % 2))), sum);
        }
        d[e] = sum;
    }
}

// multiply_byte_tiles knows both shapes: the inner axis is 32 or 16 long, four numbers to a register.
void multiply_byte_tiles(int (&d)[4], const unsigned *a, const unsigned *b, const int (&c)[4], unsigned inner, const char *at) {
    unsigned thread = number_of(machine->running), lane = thread % lanes;
    Warp &warp = machine->warps[thread / lanes];
    auto &tile = warp.tile[warp.turn[lane] % 2];
    std::memcpy(tile[lane].a, a, inner / 8 * sizeof *a);
    std::memcpy(tile[lane].b, b, inner / 16 * sizeof *b);
    collective(Collective::matrix, ~0u, 0, (int)inner, at);
    for (unsigned e = 0; e < 4; e++) {
        unsigned row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2, sum = (unsigned)c[e];
        for (unsigned k = 0; k < inner; k++) {
            unsigned four_a = tile[row % 8 * 4 + k % 16 / 4].a[row / 8 + 2 * (k / 16)];
            unsigned four_b = tile[column * 4 + k % 16 / 4].b[k / 16];
            sum += (unsigned)((int8_t)(four_a >> 8 * (k % 4)) * (int8_t)(four_b >> 8 * (k % 4)));
        }
        d[e] = (int)sum;
    }
}

void *static_shared(const void *key, size_t bytes, size_t align) {
    for (Array &array : machine->arrays)
        if (array.key == key) return array.memory;
    size_t start = (machine->static_used + align - 1) / align * align;
    if (start + bytes > static_most) fail("SHARED", "static shared memory exceeds 48 KiB");
    void *memory = machine->static_memory + start;
    machine->static_used = start + bytes + 16;  // a gap, which the address sanitizer watches
#if ADDRESS_SANITIZER
    __asan_unpoison_memory_region(memory, bytes);
#endif
    machine->arrays.push_back({key, memory});
    return memory;
}

void *dynamic_shared() { return machine->dynamic_memory; }

void begin_copy(void *shared, const void *global, const char *at) {
    if (((uintptr_t)shared | (uintptr_t)global) & 15) fail(at, "an asynchronous copy of addresses that are no multiples of 16");
    Fiber *self = machine->running;
    // A copy may land at any time: in a drawn schedule some land at once, over what others may still be reading.
    if (machine->random && draw() % 2) std::memcpy(shared, global, 16);
    else self->copies.push_back({shared, global, self->group});
}

void copy_commit() { machine->running->group++; }

// copy_wait lands the copies of all but the latest groups: what is read before is still NaN.
void copy_wait(int groups) {
    Fiber *self = machine->running;
    std::vector<Copy> later;
    for (const Copy &copy : self->copies) {
        if (copy.group < self->group - groups) std::memcpy(copy.to, copy.from, 16);
        else later.push_back(copy);
    }
    self->copies = std::move(later);
}

float widen_bfloat16(unsigned short b) { return unpack<float>((uint32_t)b << 16); }

float widen_half(unsigned short h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) return unpack<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) return unpack<float>(sign | (uint32_t)pack((float)fraction * 0x1p-24f));
    return unpack<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

unsigned short narrow_half(float f) {
    uint32_t u = (uint32_t)pack(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;  // the NaN that cvt gives
    if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00);
    if (magnitude < 0x38800000u) {               // subnormal: add what shifts the fraction into place, rounding on the way
        float shifted = unpack<float>(magnitude) + 0.5f;
        return (unsigned short)(sign | ((uint32_t)pack(shifted) - 0x3f000000u));
    }
    return (unsigned short)(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000u) >> 13));
}

namespace {

void prepare_machine() {
    if (machine) return;
    machine = new Machine();
    machine->stacks = (unsigned char *)mmap(nullptr, 2 * most_threads * stack_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    auto map = [](size_t bytes) { return (unsigned char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
    machine->static_memory = map(static_most);
    machine->dynamic_memory = map(dynamic_most + 128);
    machine->static_used = static_most;
    machine->dynamic_used = dynamic_most;
}

// refresh makes memory that a block has used NaN in every type. The thread sanitizer has to forget who touched it, for blocks do not share
// it, and must not take this for an access.
void refresh(unsigned char *memory, size_t bytes) {
    if (bytes == 0) return;
#if THREAD_SANITIZER
    mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (size_t i = 0; i < (bytes + 7) / 8; i++) ((volatile uint64_t *)memory)[i] = ~0ull;
#else
    std::memset(memory, 0xff, bytes);
#endif
}

// fresh_memory makes shared memory NaN, and out of bounds beyond what the block asked for.
void fresh_memory(size_t dynamic_bytes) {
#if ADDRESS_SANITIZER
    __asan_unpoison_memory_region(machine->static_memory, static_most);
    __asan_unpoison_memory_region(machine->dynamic_memory, dynamic_most + 128);
#endif
    refresh(machine->static_memory, std::min(machine->static_used, static_most));
    refresh(machine->dynamic_memory, machine->dynamic_used);
#if ADDRESS_SANITIZER
    __asan_poison_memory_region(machine->static_memory, static_most);
    __asan_poison_memory_region(machine->dynamic_memory + dynamic_bytes, dynamic_most + 128 - dynamic_bytes);
#endif
#if THREAD_SANITIZER
    machine->parity ^= 1;
#endif
    machine->arrays.clear();
    machine->static_used = 0;
    machine->dynamic_used = dynamic_bytes;
}

void make_fibers(Index block, Index block_size, Index grid) {
    for (unsigned i = 0; i < machine->threads; i++) {
        Fiber &fiber = machine->fibers[i];
        fiber.place = {{i % block_size.x, i / block_size.x % block_size.y, i / block_size.x / block_size.y}, block, block_size, grid};
        fiber.state = State::ready;
        fiber.group = 0;
        fiber.copies.clear();
        fiber.fenced = false;
        fiber.touched = nullptr;
#if ADDRESS_SANITIZER
        __asan_unpoison_memory_region(stack_of(i), stack_bytes);  // fibers never return from their last frames, which leave marks
#endif
        fiber.stack_pointer = first_frame(stack_of(i) + stack_bytes, entry);
#if THREAD_SANITIZER
        if (!fiber.sanitizer[machine->parity]) fiber.sanitizer[machine->parity] = __tsan_create_fiber(0);
#endif
    }
    for (Warp &warp : machine->warps) std::memset((void *)&warp, 0, sizeof warp);
    machine->alive = machine->threads;
    machine->waiting = 0;
}

// run_warp lets the lanes of a warp run as long as any of them can, and reports whether one could.
bool run_warp(unsigned first) {
    unsigned present = std::min(lanes, machine->threads - first);
    bool ran = false, again = true;
    while (again && !machine->failed) {
        again = false;
        unsigned start = machine->random ? draw() % present : 0, step = machine->random && draw() % 2 ? present - 1 : 1;
        for (unsigned k = 0, i = start; k < present; k++, i = (i + step) % present) {
            Fiber &fiber = machine->fibers[first + i];
            if (fiber.state != State::ready) continue;
            resume(first + i);
            if (machine->failed) return true;
            ran = again = true;
            if (fiber.state != State::done) continue;
            machine->alive--;
            if (machine->alive && machine->waiting == machine->alive) open_barrier();
        }
        if (machine->random && draw() % 2) break;
    }
    return ran;
}

void report_deadlock() {
    char list[256] = "";
    size_t n = 0;
    const Fiber *before = nullptr;
    for (unsigned i = 0; i < machine->threads && n + 64 < sizeof list; i++) {
        const Fiber &fiber = machine->fibers[i];
        if (fiber.state == State::done || (before && before->at == fiber.at && before->state == fiber.state)) continue;
        n += (size_t)snprintf(list + n, sizeof list - n, " thread %u in a %s at %s;", i,
            fiber.state == State::at_barrier ? "barrier" : "collective", fiber.at);
        before = &fiber;
    }
    machine->running = nullptr;
    complain("deadlock, %u of %u threads left:%s", machine->alive, machine->threads, list);
}

void run_block(size_t dynamic_bytes, Index block, Index block_size, Index grid) {
    fresh_memory(dynamic_bytes);
    make_fibers(block, block_size, grid);
    happens_before(&machine->launched);
    unsigned warps = (machine->threads + lanes - 1) / lanes;
    std::vector<unsigned> order(warps);
    std::iota(order.begin(), order.end(), 0);
    while (machine->alive && !machine->failed) {
        if (machine->random)
            for (unsigned i = warps; i > 1; i--) std::swap(order[i - 1], order[draw() % i]);
        bool ran = false;
        for (unsigned warp : order) {
            ran = run_warp(warp * lanes) || ran;
            if (machine->failed) return;
        }
        if (!ran && machine->alive) report_deadlock();
    }
}

}  // namespace

const char *launch(const Kernel *kernel, Index grid, Index block, size_t shared_bytes, void **values, uint64_t seed) {
    prepare_machine();
    machine->failed = false;
    machine->running = nullptr;
    machine->threads = block.x * block.y * block.z;
    machine->kernel = kernel;
    machine->values = values;
    machine->random = seed ? seed * 0x9e3779b97f4a7c15ull | 1 : 0;
#if THREAD_SANITIZER
    machine->scheduler_fiber = __tsan_get_current_fiber();
#endif
    if (machine->threads == 0 || machine->threads > most_threads || shared_bytes > dynamic_most) {
        complain("%u threads a block and %zu bytes of shared memory; allowed are 1 to %u and up to %zu",
            machine->threads, shared_bytes, most_threads, dynamic_most);
        return machine->error;
    }
    uint64_t total = (uint64_t)grid.x * grid.y * grid.z, stride = 1, offset = 0;
    if (machine->random && total > 1) {
        offset = draw() % total;
        do stride = draw() % total | 1;
        while (std::gcd(stride, total) != 1);
    }
    for (uint64_t i = 0; i < total && !machine->failed; i++) {
        uint64_t j = (i * stride + offset) % total;
        run_block(shared_bytes, {(unsigned)(j % grid.x), (unsigned)(j / grid.x % grid.y), (unsigned)(j / grid.x / grid.y)}, block, grid);
    }
    happens_after(&machine->finished);
    return machine->failed ? machine->error : nullptr;
}

}  // namespace emulator

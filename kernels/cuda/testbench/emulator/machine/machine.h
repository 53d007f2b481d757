// The machine that emulates kernels, shared by scheduler.cpp, fiber.cpp, warp.cpp and shared.cpp.
// There is one for each OS thread that launches kernels.
#pragma once

#include "emulate.h"

#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif
// The thread sanitizer finds races. Kernels are compiled with it, but the machine is not, so that it
// ignores what the scheduler does. -DWATCH_RACES says that the sanitizer is used.
#if defined(WATCH_RACES)
#include <sanitizer/tsan_interface.h>
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

namespace emulator {

// Not a power of two: the ends of the stacks, which are used most, would all be in the same sets of
// the processor's caches.
constexpr size_t stack_bytes = (64 << 10) + 9 * 64;
constexpr unsigned most_threads = 1024, lanes = 32;
constexpr size_t dynamic_most = 227 << 10, static_most = 48 << 10;  // bytes of a block's shared memory

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
    void *touched;               // address of its latest atomic
#if THREAD_SANITIZER
    void *sanitizer[2];          // by the parity of the block
#endif
};

struct Warp {
    Collective what;
    uint32_t needed, arrived;
    unsigned turn[lanes];        // collectives that each lane has passed
    uint64_t value[2][lanes];    // by the parity of turn: a fast lane may already be at the next collective
    // What the lanes bring to a tensor core, by the same parity: rows of a and columns of b.
    struct { float a[16][16], b[8][16]; } tile[2];
    struct { int16_t a[16][32], b[8][32]; } bytes[2]; // widened, as compilers have instructions for their products
    char synchronised[2];        // addresses for the thread sanitizer, by the parity of the block
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
    char barrier_passed[2];      // by the parity of the block: no barrier orders what two blocks do
    char launched, finished;
    unsigned parity;             // for the sanitizer, neighbouring blocks have different threads and stacks
#if ADDRESS_SANITIZER
    const void *scheduler_bottom;
    size_t scheduler_size;
    void *scheduler_fake;
#endif
#if THREAD_SANITIZER
    void *scheduler_fiber;
#endif
};

extern __thread Machine *machine;

// These two tell the thread sanitizer about an order. What a thread did before it called
// happens_before(address) comes before what a thread does after a later call of happens_after with the same
// address.
inline void happens_before([[maybe_unused]] void *address) {
#if THREAD_SANITIZER
    __tsan_release(address);
#endif
}
inline void happens_after([[maybe_unused]] void *address) {
#if THREAD_SANITIZER
    __tsan_acquire(address);
#endif
}

inline unsigned number_of(const Fiber *fiber) { return (unsigned)(fiber - machine->fibers); }

inline uint64_t draw() {
    uint64_t &s = machine->random;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

// of fiber.cpp
void begin_fiber(unsigned i);                       // at the kernel's first line
void resume(unsigned i);                            // lets a fiber run until it waits or ends
void leave();                                       // returns to the scheduler
void complain(const char *format, ...);             // records the first error of a launch
[[noreturn]] void stop();                           // ends the running fiber, and with it the launch

// of warp.cpp
void open_barrier();

// of shared.cpp
void map_shared_memory();
void fresh_memory(size_t dynamic_bytes);            // for the next block

}  // namespace emulator

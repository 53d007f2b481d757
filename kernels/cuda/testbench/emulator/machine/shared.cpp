// Shared memory of a block, and the asynchronous copies into it.
#include "machine.h"

#include <sys/mman.h>

namespace emulator {

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
    // A copy may arrive at any time. With a seed some arrive at once, over data that others may
    // still read.
    if (machine->random && draw() % 2) std::memcpy(shared, global, 16);
    else self->copies.push_back({shared, global, self->group});
}

void copy_commit() { machine->running->group++; }

// copy_wait completes the copies of all but the latest `groups` groups. Reads before copy_wait get the old
// content, unless begin_copy made the copy at once.
void copy_wait(int groups) {
    Fiber *self = machine->running;
    std::vector<Copy> later;
    for (const Copy &copy : self->copies) {
        if (copy.group < self->group - groups) std::memcpy(copy.to, copy.from, 16);
        else later.push_back(copy);
    }
    self->copies = std::move(later);
}

void map_shared_memory() {
    auto map = [](size_t bytes) { return (unsigned char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
    machine->static_memory = map(static_most);
    machine->dynamic_memory = map(dynamic_most + 128);
    machine->static_used = static_most;
    machine->dynamic_used = dynamic_most;
}

namespace {

// refresh fills memory that a block has used with NaN of every type of floats. The thread sanitizer must
// forget earlier accesses, because blocks do not share this memory. It must not see the filling as an
// access.
void refresh(unsigned char *memory, size_t bytes) {
    if (bytes == 0) return;
#if THREAD_SANITIZER
    mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (size_t i = 0; i < (bytes + 7) / 8; i++) ((volatile uint64_t *)memory)[i] = ~0ull;
#else
    std::memset(memory, 0xff, bytes);
#endif
}

}  // namespace

// fresh_memory fills shared memory with NaN, and tells the address sanitizer that all beyond the block's
// size is out of bounds.
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

}  // namespace emulator

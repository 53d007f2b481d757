// The fiber scheduler for src/emulate.h.
//
// The threads of a block are fibers of one OS thread. A fiber runs until it waits: at a barrier for
// all threads that have not ended, at a collective for the other lanes of its warp. The scheduler
// takes the warps, and in a warp the lanes, in order, or in a random order with a seed. Nothing
// runs at the same time, so one seed always gives the same result. A race that changes the result shows
// with some other seed.
#include "machine.h"

#include <cstdio>
#include <numeric>
#include <sys/mman.h>

namespace emulator {

const Kernel *kernels;
__thread Machine *machine;

namespace {

void prepare_machine() {
    if (machine) return;
    machine = new Machine();
    machine->stacks = (unsigned char *)mmap(nullptr, 2 * most_threads * stack_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    map_shared_memory();
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
        begin_fiber(i);
    }
    unsigned warps = (machine->threads + lanes - 1) / lanes;
    std::memset((void *)machine->warps, 0, warps * sizeof(Warp));
    machine->alive = machine->threads;
    machine->waiting = 0;
}

// run_warp runs the lanes of a warp until none of them can run, and reports whether any did.
bool run_warp(unsigned first) {
    unsigned present = std::min(lanes, machine->threads - first);
    bool ran = false, again = true;
    while (again && !machine->failed) {
        again = false;
        unsigned start = machine->random ? draw() % present : 0;
        bool back = machine->random && draw() % 2;
        for (unsigned k = 0, i = start; k < present; k++, i = back ? (i ? i : present) - 1 : i + 1 < present ? i + 1 : 0) {
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

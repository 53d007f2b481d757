// Fibers: switching between the threads of a block.
#include "machine.h"

#include <cstdarg>
#include <cstdio>

namespace emulator {

__thread Place *place;

namespace {

// switch_stacks pushes the callee-saved registers, switches to the other stack, and pops them there. On
// x86-64 it returns by a jump: for a ret, the processor would predict the latest call, made on the other stack.
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
	popq %rcx
	jmp *%rcx
.size emulator_switch_stacks,.-emulator_switch_stacks
)");
void *first_frame(unsigned char *top, void (*entry)()) {
    auto frame = (void **)(top - frame_bytes);
    std::memset((void *)frame, 0, frame_bytes);
    frame[6] = (void *)entry;    // after the six registers; above it a zero as the return address of entry
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

}  // namespace

// leave returns to the scheduler.
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

namespace {

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

}  // namespace

// begin_fiber makes a fiber start at the kernel's first line. Fibers never return from their last
// frames, so the marks of the address sanitizer are removed here.
void begin_fiber(unsigned i) {
    Fiber &fiber = machine->fibers[i];
#if ADDRESS_SANITIZER
    __asan_unpoison_memory_region(stack_of(i), stack_bytes);
#endif
    fiber.stack_pointer = first_frame(stack_of(i) + stack_bytes, entry);
#if THREAD_SANITIZER
    if (!fiber.sanitizer[machine->parity]) fiber.sanitizer[machine->parity] = __tsan_create_fiber(0);
#endif
}

// complain records the first error of a launch.
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

// stop ends the running fiber, and with it the launch.
[[noreturn]] void stop() {
    for (;;) leave();
}

[[noreturn]] void fail(const char *at, const char *what) {
    complain("%s: %s", at, what);
    stop();
}

}  // namespace emulator

// The GPU functions that kernels use, on the processor. Every thread of a block is a fiber, and blocks
// run one after another. Barriers and warp collectives are exact. Shared memory starts as NaN. An
// asynchronous copy arrives when it is waited for. A seed can choose the schedule; then some copies arrive
// at once. See testbench/emulator/machine/scheduler.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define INLINE static inline __attribute__((unused))

struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };

namespace emulator {

struct Index { unsigned x, y, z; };

// The place of the running thread; kernels read it as threadIdx and so on.
struct Place { Index thread, block, block_size, grid_size; };
extern __thread Place *place;

// Operations of a whole warp. It is an error if lanes arrive at different ones.
enum class Collective { sync, shuffle_xor, shuffle_up, shuffle_down, shuffle, ballot, matrix };

void barrier(const char *at);
void fence();
void atomic(void *address);  // call it before an atomic change at address
uint64_t collective(Collective what, uint32_t mask, uint64_t value, int argument, const char *at);
void *static_shared(const void *key, size_t bytes, size_t align);
void *dynamic_shared();
void begin_copy(void *shared, const void *global, const char *at);
void copy_commit();
void copy_wait(int groups);
void multiply_tiles(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], float (*widen)(unsigned short), const char *at);
void multiply_byte_tiles(int (&d)[4], const unsigned *a, const unsigned *b, const int (&c)[4], unsigned inner, const char *at);
[[noreturn]] void fail(const char *at, const char *what);

// holds reports whether all bytes from address on lie in one allocation of the kernel's memory. The program
// that has this memory defines it.
bool holds(const void *address, size_t bytes);

// Kernel is an entry of the table that EXPORT fills.
struct Kernel {
    const char *name;
    int parameters;
    const int *bytes;           // of each parameter
    const bool *pointer;        // whether it is a pointer
    void (*call)(void **values);
    const Kernel *next;
};
extern const Kernel *kernels;

// launch runs a grid. It returns nullptr, or an error message, which is valid until the next launch of
// this thread.
const char *launch(const Kernel *kernel, Index grid, Index block, size_t shared_bytes, void **values, uint64_t seed);

template <class F> struct Signature;
template <class... A> struct Signature<void (*)(A...)> {
    static constexpr int count = sizeof...(A);
    static constexpr int bytes[sizeof...(A) + 1] = {(int)sizeof(A)..., 0};
    static constexpr bool pointer[sizeof...(A) + 1] = {std::is_pointer<A>::value..., false};
    template <void (*F)(A...)> static void call(void **values) { spread<F>(values, std::index_sequence_for<A...>{}); }
    template <void (*F)(A...), size_t... I> static void spread(void **values, std::index_sequence<I...>) { F(*(A *)values[I]...); }
};

struct Registrar {
    Kernel kernel;
    Registrar(const char *name, int count, const int *bytes, const bool *pointer, void (*call)(void **))
        : kernel{name, count, bytes, pointer, call, kernels} {
        kernels = &kernel;
    }
};

template <class T> uint64_t pack(T v) { uint64_t u = 0; std::memcpy(&u, &v, sizeof v); return u; }
template <class T> T unpack(uint64_t u) { T v; std::memcpy(&v, &u, sizeof v); return v; }
template <class T> T exchange(Collective what, unsigned mask, T v, int argument, const char *at) {
    return unpack<T>(collective(what, mask, pack(v), argument, at));
}

float widen_half(unsigned short h);
float widen_bfloat16(unsigned short b);
unsigned short narrow_half(float f);

}  // namespace emulator

#define threadIdx (emulator::place->thread)
#define blockIdx (emulator::place->block)
#define blockDim (emulator::place->block_size)
#define gridDim (emulator::place->grid_size)

#define EMULATE_TEXT_(x) #x
#define EMULATE_TEXT(x) EMULATE_TEXT_(x)
#define HERE __FILE__ ":" EMULATE_TEXT(__LINE__)

#define __syncthreads() emulator::barrier(HERE)
#define __syncwarp(...) ((void)emulator::collective(emulator::Collective::sync, 0xffffffffu, 0, 0, HERE))
#define __threadfence() emulator::fence()
#define __shfl_xor_sync(mask, v, x) emulator::exchange(emulator::Collective::shuffle_xor, mask, v, x, HERE)
#define __shfl_up_sync(mask, v, d) emulator::exchange(emulator::Collective::shuffle_up, mask, v, d, HERE)
#define __shfl_down_sync(mask, v, d) emulator::exchange(emulator::Collective::shuffle_down, mask, v, d, HERE)
#define __shfl_sync(mask, v, from) emulator::exchange(emulator::Collective::shuffle, mask, v, from, HERE)
#define __ballot_sync(mask, p) ((unsigned)emulator::collective(emulator::Collective::ballot, mask, (p) ? 1 : 0, 0, HERE))
#define __popc(v) __builtin_popcount(v)

template <class T> static inline T atomicAdd(T *p, T v) {
    emulator::atomic(p);
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}
INLINE unsigned atomicInc(unsigned *p, unsigned most) {
    emulator::atomic(p);
    unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, old >= most ? 0 : old + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}
INLINE unsigned ordered_inc(unsigned *p, unsigned most) {
    __threadfence();
    unsigned before = atomicInc(p, most);
    __threadfence();
    return before;
}
// A GPU ignores a prefetch outside of all memory. Here it fails, because only a slip asks for one.
INLINE void prefetch_l2(const void *p) {
    if (!emulator::holds(p, 1)) emulator::fail("prefetch_l2", "the address is in no allocation");
}
template <class T> static inline T atomicMax(T *p, T v) {
    emulator::atomic(p);
    T old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (old < v && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}

INLINE float bits_float(unsigned u) { return emulator::unpack<float>(u); }
INLINE unsigned float_bits(float f) { return (unsigned)emulator::pack(f); }
// multiply_high returns the upper 64 bits of a product.
INLINE unsigned long long multiply_high(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
INLINE float fma_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE float round_even(float a) { return __builtin_nearbyintf(a); }
INLINE float sqrt_rn(float a) { return __builtin_sqrtf(a); }
INLINE float divide_rn(float a, float b) { return a / b; }
INLINE float larger(float a, float b) { return a > b || b != b ? a : b; }
INLINE float from_half(unsigned short h) { return emulator::widen_half(h); }
INLINE unsigned short to_half(float f) { return emulator::narrow_half(f); }
template <class T> static inline T load_aligned(const void *p) {
    if ((uintptr_t)p % sizeof(T)) emulator::fail("load", "the address is not a multiple of the size");
    return *(const T *)p;
}
INLINE void read_now(float &) {}
INLINE void compute_here(int &) {}
INLINE uint4 load_cached(const void *p) { return load_aligned<uint4>(p); }
typedef unsigned char *shared_address;
INLINE shared_address to_shared(const void *p) { return (shared_address)p; }
INLINE uint4 load_shared16(shared_address s) { return load_aligned<uint4>(s); }
INLINE uint2 load_shared8(shared_address s) { return load_aligned<uint2>(s); }
INLINE unsigned load_shared4(shared_address s) { return load_aligned<unsigned>(s); }
INLINE uint4 load_once(const void *p) {
    if ((uintptr_t)p & 15) emulator::fail("load_once", "the address is not a multiple of 16");
    return *(const uint4 *)p;
}

#define copy_async(shared, global) emulator::begin_copy(shared, global, HERE)
#define copy_async_commit() emulator::copy_commit()
#define copy_async_wait(n) emulator::copy_wait(n)
#define mma_bfloat16(d, a, b) emulator::multiply_tiles(d, a, b, emulator::widen_bfloat16, HERE)
#define mma_half(d, a, b) emulator::multiply_tiles(d, a, b, emulator::widen_half, HERE)
#define mma_int8(d, a, b, c) emulator::multiply_byte_tiles(d, a, b, c, 32, HERE)
#define mma_int8_half(d, a, b, c) emulator::multiply_byte_tiles(d, a, &(b), c, 16, HERE)

INLINE unsigned permute_bytes(unsigned low, unsigned high, unsigned selector) {
    uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return r;
}

#define UNROLL
#define INLINE_MEMBER inline
#define UNROLL_BY(n)
// The address of a static variable identifies each declaration of a shared array.
#define SHARED(type, name, dims)            \
    typedef type name##_array dims;         \
    static const char name##_key = 0;       \
    name##_array &name = *(name##_array *)emulator::static_shared(&name##_key, sizeof(name##_array), alignof(name##_array))
#define DYNAMIC_SHARED(type, name) type *name = (type *)emulator::dynamic_shared()
#define EXPORT(kernel)                                                                                                     \
    static emulator::Registrar register_##kernel(#kernel, emulator::Signature<decltype(&kernel)>::count,                   \
        emulator::Signature<decltype(&kernel)>::bytes, emulator::Signature<decltype(&kernel)>::pointer,                    \
        &emulator::Signature<decltype(&kernel)>::template call<&kernel>);

// The GPU functions that kernels use, for clang without CUDA headers and for nvcc (-fmad=false). All
// inline assembly is here.
#pragma once

#if !defined(__CUDACC__) || defined(__clang__)
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
typedef __SIZE_TYPE__ size_t;
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };

// threadIdx and its like are objects whose fields read a special register.
#define SPECIAL_REGISTER(object, reg)                                                                       \
    struct object##_type {                                                                                  \
        __declspec(property(get = read_x)) unsigned x;                                                      \
        __declspec(property(get = read_y)) unsigned y;                                                      \
        __declspec(property(get = read_z)) unsigned z;                                                      \
        static __device__ __forceinline__ unsigned read_x() { return __nvvm_read_ptx_sreg_##reg##_x(); }    \
        static __device__ __forceinline__ unsigned read_y() { return __nvvm_read_ptx_sreg_##reg##_y(); }    \
        static __device__ __forceinline__ unsigned read_z() { return __nvvm_read_ptx_sreg_##reg##_z(); }    \
    };                                                                                                      \
    extern const __device__ __attribute__((weak)) object##_type object;
SPECIAL_REGISTER(threadIdx, tid)
SPECIAL_REGISTER(blockIdx, ctaid)
SPECIAL_REGISTER(blockDim, ntid)
SPECIAL_REGISTER(gridDim, nctaid)

#define INLINE static __device__ __forceinline__
// __syncthreads is built into clang.
INLINE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
INLINE float __shfl_xor_sync(unsigned mask, float v, int x) { return __nvvm_shfl_sync_bfly_f32(mask, v, x, 31); }
INLINE int __shfl_xor_sync(unsigned mask, int v, int x) { return __nvvm_shfl_sync_bfly_i32(mask, v, x, 31); }
INLINE unsigned __shfl_xor_sync(unsigned mask, unsigned v, int x) { return (unsigned)__nvvm_shfl_sync_bfly_i32(mask, (int)v, x, 31); }
INLINE unsigned long long __shfl_xor_sync(unsigned mask, unsigned long long v, int x) {
    unsigned low = __shfl_xor_sync(mask, (unsigned)v, x), high = __shfl_xor_sync(mask, (unsigned)(v >> 32), x);
    return ((unsigned long long)high << 32) | low;
}
INLINE unsigned long long __shfl_up_sync(unsigned mask, unsigned long long v, int d) {
    unsigned low = (unsigned)__nvvm_shfl_sync_up_i32(mask, (int)v, d, 0), high = (unsigned)__nvvm_shfl_sync_up_i32(mask, (int)(v >> 32), d, 0);
    return ((unsigned long long)high << 32) | low;
}
INLINE unsigned long long __shfl_sync(unsigned mask, unsigned long long v, int from) {
    unsigned low = (unsigned)__nvvm_shfl_sync_idx_i32(mask, (int)v, from, 31), high = (unsigned)__nvvm_shfl_sync_idx_i32(mask, (int)(v >> 32), from, 31);
    return ((unsigned long long)high << 32) | low;
}
INLINE float __shfl_up_sync(unsigned mask, float v, int d) { return __nvvm_shfl_sync_up_f32(mask, v, d, 0); }
INLINE int __shfl_up_sync(unsigned mask, int v, int d) { return __nvvm_shfl_sync_up_i32(mask, v, d, 0); }
INLINE unsigned __shfl_up_sync(unsigned mask, unsigned v, int d) { return (unsigned)__nvvm_shfl_sync_up_i32(mask, (int)v, d, 0); }
INLINE float __shfl_down_sync(unsigned mask, float v, int d) { return __nvvm_shfl_sync_down_f32(mask, v, d, 31); }
INLINE float __shfl_sync(unsigned mask, float v, int from) { return __nvvm_shfl_sync_idx_f32(mask, v, from, 31); }
INLINE int __shfl_sync(unsigned mask, int v, int from) { return __nvvm_shfl_sync_idx_i32(mask, v, from, 31); }
INLINE unsigned __shfl_sync(unsigned mask, unsigned v, int from) { return (unsigned)__nvvm_shfl_sync_idx_i32(mask, (int)v, from, 31); }
INLINE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
INLINE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
INLINE unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
INLINE unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) {
    return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v);
}
INLINE unsigned long long atomicMax(unsigned long long *p, unsigned long long v) { return __nvvm_atom_max_gen_ull(p, v); }
INLINE float bits_float(unsigned u) { float f; __builtin_memcpy(&f, &u, 4); return f; }
INLINE unsigned float_bits(float f) { unsigned u; __builtin_memcpy(&u, &f, 4); return u; }
INLINE unsigned long long multiply_high(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
INLINE float fma_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
#define INLINE static __device__ __forceinline__
INLINE float bits_float(unsigned u) { return __uint_as_float(u); }
INLINE unsigned float_bits(float f) { return __float_as_uint(f); }
INLINE unsigned long long multiply_high(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }
INLINE float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#endif

INLINE float round_even(float a) { float r; asm("cvt.rni.f32.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
INLINE float sqrt_rn(float a) { float r; asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
INLINE float divide_rn(float a, float b) { float r; asm("div.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
// larger returns the larger of two numbers. NaN counts as less than all others.
INLINE float larger(float a, float b) { float r; asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
INLINE float from_half(unsigned short h) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h)); return r; }
INLINE unsigned short to_half(float f) { unsigned short r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(f)); return r; }

// ordered_inc increments *p, or sets *p to 0 if it is most, and returns the old number. A thread that increments
// *p later sees what the caller's block had written before a barrier that came before the call. One such atomic
// waits less than an atomic between fences.
INLINE unsigned ordered_inc(unsigned *p, unsigned most) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(p), "r"(most) : "memory");
    return before;
}
// prefetch_l2 begins to load the line_bytes around p, in global memory, to the second-level cache.
INLINE void prefetch_l2(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// read_now keeps the compiler from moving a read after a branch that decides whether its result is used.
INLINE void read_now(float &v) { asm volatile("" : "+f"(v)); }
// compute_here keeps the compiler from computing before a branch what only the branch needs, if it depends on v.
INLINE void compute_here(int &v) { asm volatile("" : "+r"(v)); }

// load_cached reads 16 bytes that no thread of the launch writes.
INLINE uint4 load_cached(const void *p) {
    typedef unsigned four __attribute__((ext_vector_type(4)));
    four v = __nvvm_ldg_ui4((const four *)p);
    return uint4{v.x, v.y, v.z, v.w};
}
// load_once reads 16 bytes that are read only once, such as weights, and does not keep them in the
// first-level cache.
INLINE uint4 load_once(const void *p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

// Reads of shared memory by 32-bit shared addresses.
typedef unsigned shared_address;
INLINE shared_address to_shared(const void *p) {
    unsigned s;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(s) : "l"(p));
    return s;
}
INLINE uint4 load_shared16(shared_address s) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(s) : "memory");
    return v;
}
INLINE uint2 load_shared8(shared_address s) {
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(s) : "memory");
    return v;
}
INLINE unsigned load_shared4(shared_address s) {
    unsigned v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(s) : "memory");
    return v;
}

// copy_async copies 16 bytes from global to shared memory in the background; both addresses are aligned
// to 16. A copy belongs to the group that the next copy_async_commit closes. copy_async_wait(n) waits
// until at most the n latest groups of this thread are unfinished.
INLINE void copy_async(shared_address shared, const void *global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
INLINE void copy_async(void *shared, const void *global) { copy_async(to_shared(shared), global); }
INLINE void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define copy_async_wait(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

// mma_* add the product of a 16×16 tile a and a 16×8 tile b to the 16×8 tile d, over the whole warp
// (m16n8k16). With g = lane/4 and t = lane%4: a[i] holds row g + 8·(i%2), columns 2t, 2t+1 (+8 for
// i ≥ 2); b[i] holds rows 2t, 2t+1 (+8·i) of column g; d[i] holds row g + 8·(i/2), column 2t + i%2.
INLINE void mma_bfloat16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
INLINE void mma_half(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// mma_int8 writes to d the exact sum of c and the product of a 16×32 tile a and a 32×8 tile b of signed
// bytes, over the whole warp (m16n8k32). With g = lane/4 and t = lane%4: a[i] holds row g + 8·(i%2),
// columns 4t … 4t+3 (+16 for i ≥ 2); b[i] holds rows 4t … 4t+3 (+16·i) of column g; c[i] and d[i] hold
// row g + 8·(i/2), column 2t + i%2.
INLINE void mma_int8(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const int (&c)[4]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
// mma_int8_half is mma_int8 for 16 columns of a (m16n8k16): a[0], a[1] and b.
INLINE void mma_int8_half(int (&d)[4], const unsigned (&a)[2], unsigned b, const int (&c)[4]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// permute_bytes picks four of the eight bytes of high:low. Hexadecimal digit i of selector, from the
// right, says which byte becomes byte i.
INLINE unsigned permute_bytes(unsigned low, unsigned high, unsigned selector) {
    unsigned r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(selector));
    return r;
}

// UNROLL unrolls a loop whose count is known to the compiler. A loop needs it if its variable indexes an array
// that must stay in registers. UNROLL_BY(n) unrolls n turns at a time, so UNROLL_BY(1) prevents unrolling.
#define PRAGMA_TEXT(x) _Pragma(#x)
#define UNROLL _Pragma("unroll")
#define INLINE_MEMBER __device__ __forceinline__  // INLINE for the functions of a struct
#define UNROLL_BY(n) PRAGMA_TEXT(unroll n)
#define SHARED(type, name, dims) __shared__ type name dims
#define DYNAMIC_SHARED(type, name)                                        \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[]; \
    type *name = (type *)dynamic_shared_bytes
#define EXPORT(kernel)

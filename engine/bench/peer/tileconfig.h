// GCC before 11.5, 12.4, 13.3 and 14 drops stores to the memory from which _tile_loadconfig reads: its inline assembly
// names only the first 8 of 64 bytes. A program that uses AMX then ends with an illegal instruction or a segmentation
// fault. ./build includes this file before each C++ file of llama.cpp, so that its AMX kernels run.
#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
static inline __attribute__((always_inline)) void load_tile_config(const void *config) {
	__asm__ volatile("ldtilecfg\t%X0" ::"m"(*(const char(*)[64])config));
}
#define _tile_loadconfig load_tile_config
#endif

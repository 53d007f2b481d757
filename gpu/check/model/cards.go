package main

import (
	"slices"
	"strings"
)

// card holds what the maker says about a graphics card.
type card struct {
	name           string
	target         int     // sm_…
	multiprocessor int     // number of multiprocessors
	clock          float64 // GHz, boost; of H100 and H200 the highest that the driver of the H200 named
	bytes          float64 // GB/s of memory
	cache          float64 // bytes of the second-level cache
	half, int8     float64 // 10¹² operations a second of tensor cores, dense, sums in 32 bits
}

// Source: NVIDIA's data sheets and whitepapers of GA102, AD102, GB202, H100 (SXM) and H200. On
// GeForce cards, products in half precision have half the rate if their sums are float32 instead of
// half precision.
var cards = []card{
	{"3090", 86, 82, 1.695, 936, 6 << 20, 71, 284},
	{"4090", 89, 128, 2.52, 1008, 72 << 20, 165, 660},
	{"5090", 120, 170, 2.407, 1792, 96 << 20, 209, 838},
	{"H100", 90, 132, 1.98, 3350, 50 << 20, 989, 1979},
	{"H200", 90, 132, 1.98, 4800, 50 << 20, 989, 1979},
}

// cardNamed returns the card with this name, which must be in the list.
func cardNamed(name string) card {
	return cards[slices.IndexFunc(cards, func(c card) bool { return c.name == name })]
}

// The assumptions of the estimate, fitted to reports of an H200 (kernels/cuda/reports). The names in
// quotes are benchmarks of these reports. For the other cards the assumptions were not measured.
const (
	// gap is the time in µs between two kernels of a graph that depend on each other: "Graph" measured 0.80. An
	// event between two kernels takes about as long.
	gap = 0.8
	// barrier is the time in µs of a barrier of all blocks of a grid. A test kernel on the H200 took 0.9.
	barrier = 0.9
	// step is the time in µs for which a block waits once, for memory or for its slowest warp (stepsOf). "Kernels",
	// with gap and event: a norm (4 steps) took 6.0 to 7.3, preparing heads (4) 6.1, attention of a row
	// with its heads and its combination (8) 11.7.
	step = 1.25
	// latency is the time in µs from a warp's request for a slab of weights to its request for the next slab,
	// without the time to issue instructions. "Product/Q4_K/down": 12.2 with six slabs one after the other.
	latency = 0.7
	// streamed is the share of the memory's bandwidth that reading reaches at best. "Product/BF16/scores"
	// reads 1,144 MB more than "Product/BF16/gate" and takes 259 µs longer: 4,420 of 4,800 GB/s.
	streamed = 0.92
	// cached is how many bytes a multiprocessor reads from the second-level cache in a clock. Test kernels on the H200
	// read 16.9 MB in 3.6 µs and 4.2 MB in 2.1: 32 bytes. Half of it is assumed, because other cards were not measured.
	cached = 16
	// slotsOfTile is the number of instructions that a multiprocessor issues in a clock with 8 warps, in products
	// of many rows. Prefill of 512 rows of 8B: 13,332 tokens/s in Q8_0 and 11,013 in Q4_K (docs/gpu.md).
	slotsOfTile = 2.7
	// mmaOfPeak is the share of the peak rate that products of many rows reach on Hopper's tensor cores; elsewhere 1.
	// "Prefill512/8B-BF16": 26.6 ms. mma alone reached 0.64, as "peak-Tops/s" says.
	mmaOfPeak = 0.38
	// launchesPeer is the number of launches per layer in llama.cpp.
	launchesPeer = 16
)

// stepsOf counts the steps of a kernel, as its source has them. A step is the start of the kernel, a read whose
// place or use depends on an earlier step, or a barrier after which warps read each other's results.
func stepsOf(kernel string) int {
	switch {
	case strings.HasPrefix(kernel, "matmul_") && strings.HasSuffix(kernel, "_norm_row"):
		return 3 // start, row that is normalised, sums of the warps
	case strings.HasPrefix(kernel, "norm_summed"):
		return 2 // start, row with the squares of its tiles
	case strings.HasPrefix(kernel, "attend_") && strings.HasSuffix(kernel, "_wide"):
		return 11 // as below, but keys and values are read only when needed, and tiles of columns follow each other
	case strings.HasPrefix(kernel, "attend_"):
		return 5 // start, length, keys with queries, weights of keys, sums of values
	case strings.HasPrefix(kernel, "prepare_heads"):
		return 4 // start, length, angles with the norm, rotation
	case strings.Contains(kernel, "norm"):
		return 4 // start, row, sum of squares, result
	case strings.HasPrefix(kernel, "combine"):
		return 3 // start, length, splits
	}
	return 2 // start, numbers; of a product: start, sums of the warps
}

// stepsAlso are the steps of joined work. A combination, and a norm in the version that the report measured, is
// done by the last block to arrive; to know that it is the last takes a step, as a start does. A combination knows
// the length already. Heads take no step: they are loaded together with the length; in the measured version
// (lateheads) they were loaded after it. A SwiGLU needs two barriers. A sum waits for nothing: its numbers arrive with
// the weights. Fetching ahead is done by other blocks.
var stepsAlso = map[string]int{"norm": stepsOf("norm"), "combine": 2, "heads": 0, "lateheads": 1, "swiglu": 2, "sum": 0, "ahead": 0}

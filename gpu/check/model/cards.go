package main

// card holds what the maker says about a graphics card.
type card struct {
	name           string
	target         int     // sm_…
	multiprocessor int     // number of multiprocessors
	clock          float64 // GHz, boost
	bytes          float64 // GB/s of memory
	half, int8     float64 // 10¹² operations a second of tensor cores, dense, sums in 32 bits
}

// Source: NVIDIA's data sheets and whitepapers of GA102, AD102, GB202, H100 (SXM) and H200. On
// GeForce cards, products in half precision have half the rate if their sums are float32 instead of
// half precision.
var cards = []card{
	{"3090", 86, 82, 1.695, 936, 71, 284},
	{"4090", 89, 128, 2.52, 1008, 165, 660},
	{"5090", 120, 170, 2.407, 1792, 209, 838},
	{"H100", 90, 132, 1.83, 3350, 989, 1979},
	{"H200", 90, 132, 1.83, 4800, 989, 1979},
}

// The assumptions of the estimate. They were not measured with these kernels; calibrate shows how well
// they fit published figures of llama.cpp.
const (
	streamed     = 0.92 // share of the memory's bandwidth that reading reaches at best
	latency      = 650  // ns until a read arrives when memory is busy
	gap          = 1.0  // µs between two kernels of a graph that depend on each other
	small        = 1.3  // µs that a kernel with little work takes
	ramp         = 1.3  // µs that a product loses until its first blocks compute and after most have ended
	slots        = 2.9  // instructions that a multiprocessor issues in a clock if it has many warps; the hardware allows 4
	slotsOfTile  = 2.0  // instructions that it issues in a clock with 8 warps, for kernels of many rows
	mmaOfPeak    = 0.62 // share of the peak rate that mma reaches on Hopper's tensor cores; elsewhere 1
	launchesPeer = 16   // launches per layer in llama.cpp
)

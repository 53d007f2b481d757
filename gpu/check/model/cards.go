package main

// card is what a maker says of a graphics card, and what a kernel gets of it.
type card struct {
	name           string
	target         int     // sm_…
	multiprocessor int     // how many
	clock          float64 // GHz, boost
	bytes          float64 // GB/s of memory
	half, int8     float64 // 10¹² operations a second of tensor cores, dense, sums in 32 bits
}

// Source: NVIDIA's data sheets and whitepapers of GA102, AD102, GB202, H100 (SXM) and H200. On GeForce
// cards, products in half precision with sums in float32 have half the rate.
var cards = []card{
	{"3090", 86, 82, 1.695, 936, 71, 284},
	{"4090", 89, 128, 2.52, 1008, 165, 660},
	{"5090", 120, 170, 2.407, 1792, 209, 838},
	{"H100", 90, 132, 1.83, 3350, 989, 1979},
	{"H200", 90, 132, 1.83, 4800, 989, 1979},
}

// The assumptions. Nobody has measured them for these kernels; the calibration says how well they
// fit figures of another program.
const (
	streamed     = 0.92 // of the bandwidth that reading memory reaches at best
	latency      = 650  // ns of a read when memory is busy
	gap          = 1.0  // µs between two dependent kernels of a graph
	small        = 1.3  // µs of a kernel that does little
	ramp         = 1.3  // µs for the first and the last blocks of a product
	slots        = 2.9  // of 4 instructions a clock that a multiprocessor issues, with many warps
	slotsOfTile  = 2.0  // the same with 8 warps
	mmaOfPeak    = 0.62 // of the tensor cores' rate that these instructions reach on Hopper; elsewhere all
	launchesPeer = 16   // a layer of llama.cpp
)

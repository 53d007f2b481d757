package main

import (
	"slices"
	"strings"

	"specula/kernels/cuda"
)

// While attention of few rows runs, idle multiprocessors fetch weights of the next products to the second-level
// cache (gpu/fetchahead.go).

// fetchedDuring is how many bytes a launch of attention fetches; 0 for any other launch.
func (p pass) fetchedDuring(attention int, c card) (bytes float64) {
	for _, part := range p.fetchedBy(attention, c) {
		bytes += part
	}
	return bytes
}

// fetchedBefore is how many bytes of its weights a product finds in the second-level cache.
func (p pass) fetchedBefore(product int, c card) float64 {
	for i := range product {
		if part := p.fetchedBy(i, c)[product]; part > 0 {
			return part
		}
	}
	return 0
}

// fetchedBy returns, for each product from which a launch of attention fetches weights, how many bytes.
func (p pass) fetchedBy(attention int, c card) map[int]float64 {
	of := map[int]float64{}
	l := p.launches[attention]
	if !slices.Contains(l.also, "ahead") || cuda.Idle(c.multiprocessor, l.blocks) == 0 {
		return of
	}
	left := float64(cuda.FetchAhead(int(c.cache), int(c.bytes*1e3)))
	for i := attention + 1; i < len(p.launches) && left > 0; i++ {
		// Launches that are as many as those of attention, or one fewer, stand once in each layer.
		if next := p.launches[i]; strings.HasPrefix(next.kernel, "matmul_") && next.count >= l.count-1 {
			of[i] = min(left, next.bytes)
			left -= of[i]
		}
	}
	return of
}

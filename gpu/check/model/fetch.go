package main

import (
	"slices"
	"strings"

	"specula/kernels/cuda"
)

// fetching returns, for each launch of a pass, how many bytes of weights it fetches for later ones, and how many of its
// own weights earlier ones have fetched. While attention of few rows runs, idle multiprocessors fetch weights of the
// next products to the second-level cache (gpu/fetchahead.go).
func (p pass) fetching(c card) (fetches, fetched []float64) {
	fetches, fetched = make([]float64, len(p.launches)), make([]float64, len(p.launches))
	for i, l := range p.launches {
		if !slices.Contains(l.also, "ahead") || cuda.Idle(c.multiprocessor, l.blocks) == 0 {
			continue
		}
		left, matrices := float64(cuda.FetchAhead(int(c.cache), int(c.bytes*1e3))), cuda.MostFetched
		for j, next := range p.launches[i+1:] {
			// Launches that are as many as those of attention stand once in each layer, after it. The products of q,
			// k and v come next, but four matrices before them are all that is fetched.
			if !strings.HasPrefix(next.kernel, "matmul_") || next.count != l.count || matrices == 0 {
				continue
			}
			matrices--
			if slices.Contains(next.also, "swiglu") {
				matrices-- // gate and up
			}
			part := min(left, next.bytes)
			left -= part
			fetches[i] += part
			fetched[i+1+j] = part
		}
	}
	return fetches, fetched
}

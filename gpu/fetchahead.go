package gpu

import (
	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// Attention of a few rows has fewer blocks than a card has multiprocessors, and leaves the memory idle. The
// products after it wait for their weights. fetchAhead gives the launch of attention extra blocks, which only load
// such weights into the second-level cache (kernels/cuda/src/fetch.h). They change no result.

// fetchLimit says how much attention may fetch on a card.
type fetchLimit struct {
	bytes           int // see cuda.FetchAhead; 0: nothing
	multiprocessors int
}

func fetchLimitOf(card driver.Info) fetchLimit {
	return fetchLimit{cuda.FetchAhead(card.L2Bytes, card.BytesPerUS), card.Multiprocessors}
}

// weightRange is a weight matrix that attention fetches, or its beginning.
type weightRange struct {
	from  driver.Pointer
	bytes int
}

// weightsAhead is what attention fetches for later operations.
type weightsAhead struct {
	ranges [cuda.MostFetched]weightRange // in the order in which the products come
	blocks int                           // extra blocks for each split and each blockIdx.z of attention; 0: nothing is fetched
}

// mostFetchingRows is the most rows of an attention that fetches: those of the longest verification. With more,
// attention takes longer and fills more of the card.
const mostFetchingRows = compute.MostDrafts + 1

// fetchAhead adds to each attention what it fetches for the products after it. It works in place and returns the
// operations.
func fetchAhead(operations []operation, by fetchLimit) []operation {
	for i, o := range operations {
		switch a := o.(type) {
		case attend:
			a.ahead = by.ahead(a, operations[i+1:])
			operations[i] = a
		case attendThen:
			a.ahead = by.ahead(a.attend, operations[i+1:])
			operations[i] = a
		}
	}
	return operations
}

// ahead returns what the attention a fetches for the operations after it. Its extra blocks have multiprocessors of
// their own, so that they do not slow down those that compute.
func (f fetchLimit) ahead(a attend, later []operation) (w weightsAhead) {
	each := a.part.splits * ceilDivide(a.columns(), a.columnsOfBlock())
	most := cuda.Idle(f.multiprocessors, each*a.cache.kvHeads) / each
	if !a.cache.half || a.rows > mostFetchingRows || most == 0 {
		return weightsAhead{}
	}
	left, lines := f.bytes, 0
	for i, p := range nextProducts(later) {
		bytes := min(left, p.weight.format.Bytes(p.weight.rows, p.weight.cols))
		if i == len(w.ranges) || bytes == 0 {
			break
		}
		w.ranges[i] = weightRange{p.weight.memory, bytes}
		left -= bytes
		lines += ceilDivide(bytes, cuda.LineBytes)
	}
	const threads = keysPerSplit // of a block
	// More blocks would have no lines to fetch.
	w.blocks = min(most, ceilDivide(lines, each*threads))
	return w
}

// nextProducts returns the products before the next attention. It leaves out products with choices: the host does not
// know which experts the rows will choose.
func nextProducts(later []operation) (next products) {
	for _, o := range later {
		var of products
		switch o := o.(type) {
		case attend, attendThen:
			return next
		case product:
			of = products{o}
		case products:
			of = o
		case productsThen:
			of = o.products
		}
		for _, p := range of {
			if p.by == (choices{}) {
				next = append(next, p)
			}
		}
	}
	return next
}

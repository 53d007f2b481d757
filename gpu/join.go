package gpu

import "specula/kernels/cuda"

// join replaces neighbouring operations by one if a kernel does all of them with the same bits. This
// pays because in decoding the launches themselves take a good part of the time. join works in place
// and returns the operations that remain.
func join(operations []operation) []operation {
	joined := operations[:0]
	for _, o := range operations {
		joined = append(joined, o)
		switch o := o.(type) {
		case norm:
			joined = joinAdd(joined, o)
		case store:
			joined = joinHeads(joined, o)
		case attend:
			joined = joinAttention(joined, o)
		}
	}
	return joined
}

// before returns the operation n before the last one; n = 0 is the last. ok is false if there is none,
// or if it is not a T.
func before[T operation](operations []operation, n int) (o T, ok bool) {
	if i := len(operations) - 1 - n; i >= 0 {
		o, ok = operations[i].(T)
	}
	return o, ok
}

// joinAdd joins a norm of rows, which comes last, with the add that made these rows.
func joinAdd(operations []operation, n norm) []operation {
	a, ok := before[add](operations, 1)
	switch {
	case !ok, a.x != n.x, a.n != n.groups*n.length: // not the same numbers
	case n.warps(): // no kernel for that
	case n.dst == a.x, n.dst == a.y: // the kernel would read what it has written
	default:
		return append(operations[:len(operations)-2], addNorm{a.y, n})
	}
	return operations
}

// mostHeadDim is the widest head that the kernel of joinHeads takes.
const mostHeadDim = 256

// joinHeads joins the storing of k and v, which comes last, with the rotations of q and k before it
// and the norms before these. The joined operation rotates k in the cache only, not in its buffer.
// This is enough, because a model reads k from the cache.
func joinHeads(operations []operation, s store) []operation {
	q, isRotation := before[rotate](operations, 2)
	k, ok := before[rotate](operations, 1)
	switch {
	case !ok, k.x != s.k, k.rows != s.rows, k.heads != s.cache.kvHeads, k.headDim != s.cache.keyDim, k.by.position != s.position:
		return operations // this k is not stored
	case !isRotation, q.x == s.k, q.x == s.v, q.rows != k.rows, q.headDim != k.headDim, q.by != k.by:
		return operations // this q does not belong to k
	case s.cache.keyDim > mostHeadDim, s.cache.keyDim != s.cache.valueDim:
		return operations // no kernel for that
	}
	joined, count := prepareHeads{q: q, store: s}, 3
	qNorm, hasQ := before[norm](operations, 4)
	kNorm, hasK := before[norm](operations, 3)
	if hasQ && hasK && qNorm.isOf(q) && kNorm.isOf(k) && qNorm.eps == kNorm.eps {
		joined.qNorm, joined.kNorm, joined.eps, count = qNorm.w, kNorm.w, qNorm.eps, 5
	}
	return append(operations[:len(operations)-count], joined)
}

// joinAttention joins attention of one row, the last operation, with the prepareHeads before it. The joined
// operation does not write the rotated q to its buffer, because only attention reads it.
func joinAttention(operations []operation, a attend) []operation {
	h, ok := before[prepareHeads](operations, 1)
	if !ok || a.rows != 1 || h.rows != 1 || h.q.x != a.q || h.cache != a.cache || h.position != a.position || a.from != 0 {
		return operations // these heads are not those of the row
	}
	if !a.cache.half || a.columns() > mostColumns {
		return operations // no kernel for that
	}
	a.fresh = h
	return append(operations[:len(operations)-2], a)
}

// joinProducts joins neighbouring products of the same activations. It works in place and returns the
// operations that remain.
func joinProducts(operations []operation) []operation {
	joined := operations[:0]
	for _, o := range operations {
		p, isProduct := o.(product)
		if last := len(joined) - 1; isProduct && last >= 0 {
			switch before := joined[last].(type) {
			case product:
				if p.joins(before) {
					joined[last] = products{before, p}
					continue
				}
			case products:
				if len(before) < cuda.MostJoined && p.joins(before...) {
					joined[last] = append(before, p)
					continue
				}
			}
		}
		joined = append(joined, o)
	}
	return joined
}

// joins reports whether one launch can compute p and the others: they read the same activations, and
// write to different places.
func (p product) joins(others ...product) bool {
	for _, o := range others {
		if p.activations != o.activations || p.rows != o.rows || p.weight.format != o.weight.format ||
			p.weight.cols != o.weight.cols || p.by != o.by || p.dst == o.dst {
			return false
		}
	}
	return true
}

// isOf reports whether the norm normalises, in place, each head that r rotates.
func (n norm) isOf(r rotate) bool {
	return n.x == r.x && n.dst == r.x && n.length == r.headDim && n.groups == r.rows*r.heads
}

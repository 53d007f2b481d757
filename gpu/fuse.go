package gpu

import "specula/gpu/driver"

// A step of decoding is so short that the launches themselves are a good part of it. Operations that follow each other are therefore
// joined on the tape where there is a kernel for both, which gives the same bits.

// is reports whether a step runs the kernel of a name.
func (s *step) is(name string) bool { return s.kernel != nil && s.kernel.name == name }

// last returns the step that stands so many before the tape's end, nil if there is none.
func (t *tape) last(back int) *step {
	if i := len(t.steps) - 1 - back; i >= 0 {
		return &t.steps[i]
	}
	return nil
}

// fuseAdd makes an addition to all of x, the step before, part of the norm of x, and reports whether it did.
func (b *Backend) fuseAdd(dst, x *buffer, m int, w *vector, eps float32) (bool, error) {
	s := b.tape.last(0)
	if s == nil || !s.is("add_rows") || s.values[0] != address(x.memory) || s.values[2] != whole(m*x.cols) {
		return false, nil
	}
	y := s.values[1]
	if w.length != x.cols || dst == x || y == address(dst.memory) {
		return false, nil
	}
	joined, err := b.step("add_rms_norm", driver.Shape{Grid: [3]int{m}, Block: [3]int{normThreads(w.length)}},
		address(dst.memory), address(x.memory), y, address(w.memory), whole(w.length), real(eps))
	if err == nil {
		*s = joined
	}
	return true, err
}

// heads are a pass's rows of q, k and v on their way to attention.
type heads struct {
	q, k, v  *buffer
	m        int
	cache    *cache
	layer    int
	number   int // of query heads
	position driver.Argument
}

// fuse joins the norms, if any, and rotations of q and k, which stand at the tape's end, with the storing of k and v, and reports
// whether it did. It does for passes of one sequence.
func (h *heads) fuse(b *Backend) (bool, error) {
	t, c := b.tape, h.cache
	q, k := t.last(1), t.last(0)
	if !h.rotates(q, h.q, h.number) || !h.rotates(k, h.k, c.shape.KVHeads) {
		return false, nil
	}
	for _, i := range []int{1, 2, 7, 8} { // tables, dim and order of pairs
		if q.values[i] != k.values[i] {
			return false, nil
		}
	}
	joined, qNorm, kNorm, eps := 2, address(0), address(0), real(0)
	if n, l := t.last(3), t.last(2); h.norms(n, h.q, h.number) && h.norms(l, h.k, c.shape.KVHeads) && n.values[5] == l.values[5] {
		joined, qNorm, kNorm, eps = 4, n.values[2], l.values[2], n.values[5]
	}
	name := "prepare_heads_float"
	if c.half {
		name = "prepare_heads_half"
	}
	const warps = 8
	keys, values := c.layer(h.layer)
	none := address(0)
	s, err := b.step(name, driver.Shape{Grid: [3]int{ceilDivide(h.number+2*c.shape.KVHeads, warps), h.m}, Block: [3]int{32 * warps}},
		address(h.q.memory), address(h.k.memory), address(h.v.memory), address(keys), address(values), none, none, none, qNorm, kNorm,
		q.values[1], q.values[2], h.position, whole(0), whole(h.number), whole(c.shape.KVHeads), whole(c.shape.HeadDim), q.values[7], q.values[8],
		whole(c.capacity), eps)
	if err == nil {
		t.steps = append(t.steps[:len(t.steps)-joined], s)
	}
	return true, err
}

// rotates reports whether a step rotates all rows of x by the pass's positions.
func (h *heads) rotates(s *step, x *buffer, number int) bool {
	return s != nil && s.is("rope") && s.shape.Grid[1] == h.m && s.values[0] == address(x.memory) && s.values[3] == h.position && s.values[5] == whole(number)
}

// norms reports whether a step normalises each head of all rows of x in place.
func (h *heads) norms(s *step, x *buffer, number int) bool {
	return s != nil && s.is("rms_norm_heads") && s.values[0] == address(x.memory) && s.values[1] == s.values[0] &&
		s.values[3] == whole(h.cache.shape.HeadDim) && s.values[4] == whole(h.m*number)
}

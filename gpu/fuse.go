package gpu

import "specula/gpu/driver"

// In decoding, the launches themselves take a good part of the time. So this file joins
// neighbouring operations on the tape where one kernel does both and gives the same bits.

// is reports whether a step runs the kernel of that name.
func (s *step) is(name string) bool { return s.kernel != nil && s.kernel.name == name }

// last returns the step that is back places before the tape's last one, or nil.
func (t *tape) last(back int) *step {
	if i := len(t.steps) - 1 - back; i >= 0 {
		return &t.steps[i]
	}
	return nil
}

// fuseAdd handles the norm of x when the step before it is an addition to all of x: it replaces
// both by one kernel and returns true. Else it changes nothing.
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

// heads are a pass's rows of q, k and v before attention.
type heads struct {
	q, k, v  *buffer
	m        int
	cache    *cache
	layer    int
	number   int // of query heads
	position driver.Argument
}

// fuse looks at the tape's last steps: the rotations of q and k, and perhaps the norms before
// them. It joins them with the storing of k and v in one kernel and returns true. It does so only
// if the rows start at row 0 of the buffers, that is, if the pass has one sequence.
func (h *heads) fuse(b *Backend) (bool, error) {
	t, c := b.tape, h.cache
	q, k := t.last(1), t.last(0)
	if !h.rotates(q, h.q, h.number) || !h.rotates(k, h.k, c.shape.KVHeads) {
		return false, nil
	}
	for _, i := range []int{1, 2, 7, 8} { // values 1, 2, 7, 8 of rope: cos, sin, dim, pair order
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

// rotates reports whether the step rotates all rows of x by the positions of this pass.
func (h *heads) rotates(s *step, x *buffer, number int) bool {
	return s != nil && s.is("rope") && s.shape.Grid[1] == h.m && s.values[0] == address(x.memory) && s.values[3] == h.position && s.values[5] == whole(number)
}

// norms reports whether the step normalises each head of all rows of x in place.
func (h *heads) norms(s *step, x *buffer, number int) bool {
	return s != nil && s.is("rms_norm_heads") && s.values[0] == address(x.memory) && s.values[1] == s.values[0] &&
		s.values[3] == whole(h.cache.shape.HeadDim) && s.values[4] == whole(h.m*number)
}

package gpu

import "specula/engine/compute"

var _ compute.PastReader = (*Backend)(nil)

// ReservePast makes the scratch of attention large enough for a row of a pass over such layers.
func (b *Backend) ReservePast(shape compute.CacheShape) error {
	return b.growScratch(&b.scratch.attended, "attention", attentionBytes(shape, 1))
}

// AttendPast attends to what a row at the last token of the cache sees, but for the oldest key of its
// window: the row of q stands one position later.
func (b *Backend) AttendPast(dst, q compute.Buffer, cc compute.Cache, a compute.Attention) error {
	c := inside(cc)
	require(a.Position == c.length && c.memory != 0, "AttendPast at another position than the cache's length")
	require(a.Position > 0 && a.Window != 1, "AttendPast of a row that sees no key")
	a.Row, a.Sinks = 0, nil
	a.Position--
	if a.Window > 0 {
		a.Window--
	}
	b.attend(dst, q, 1, c.layers[a.Layer], a)
	return nil
}

package gpu

import "specula/engine/compute"

var _ compute.PastReader = (*Backend)(nil)

// ReservePast makes the scratch of attention large enough for one row that attends to layers of this shape.
func (b *Backend) ReservePast(shape compute.CacheShape) error {
	return b.growScratch(&b.scratch.attended, "attention", attentionBytes(shape, 1))
}

// AttendPast computes the attention of a row to tokens of the cache only. This is the attention of a row at the
// position of the cache's last token (compute.Attention.Past).
func (b *Backend) AttendPast(dst, q compute.Buffer, cc compute.Cache, a compute.Attention) error {
	c := inside(cc)
	require(a.Position == c.length && c.memory != 0, "AttendPast at another position than the cache's length")
	require(a.Position > 0 && a.Window != 1, "AttendPast of a row that sees no key")
	b.attend(dst, q, 1, c.layers[a.Layer], a.Past())
	return nil
}

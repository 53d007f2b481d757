package host

import (
	"specula/engine/compute"
)

var _ compute.PastReader = (*Backend)(nil)

// ReservePast does nothing: attention has its temporary memory from the start.
func (b *Backend) ReservePast(compute.CacheShape) error { return nil }

// AttendPast attends as a row at the last token of the cache would (compute.Attention.Past).
func (b *Backend) AttendPast(dst, q compute.Buffer, c compute.Cache, a compute.Attention) error {
	kv, partial := inside(c)
	require(a.Position == kv.length && kv.layers != nil, "AttendPast at another position than the cache's length")
	require(a.Position > 0 && a.Window != 1, "AttendPast of a row that sees no key")
	queries, qb := queuedRows(q, 0, 1)
	out, db := queuedRows(dst, 0, 1)
	l := kv.shape.Layer(a.Layer)
	require(qb.cols == a.Heads*a.HeadDim && db.cols == a.Heads*l.ValueDim, "AttendPast of widths that do not fit")
	require(a.HeadDim == l.KeyDim && l.KVHeads > 0 && a.Heads%l.KVHeads == 0, "AttendPast of heads that do not fit")
	require(partial == nil || ringOf(&kv.shape, a.Layer) == 0 || a.Window > 0 && a.Window <= kv.shape.Windows[a.Layer],
		"AttendPast to keys before the cache's window")
	task := b.attention(out, queries, kv, 1, a.Past())
	b.queueAttention(&task)
	return nil
}

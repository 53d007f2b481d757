package compute

// PastReader is an optional interface of a Backend: attention to the keys and values of a cache, without
// any of the row's own. The drafter of Gemma 4 needs it, which has no keys and values.
type PastReader interface {
	// ReservePast reserves the temporary memory of passes of one row whose layers attend to such layers of a cache.
	// Call it before AttendPast, outside of a pass.
	ReservePast(CacheShape) error
	// AttendPast writes attention of row 0 of q to row 0 of dst. The row stands at a.Position, which is the
	// cache's Len and at least 1, and attends to tokens of the cache only. It stores nothing. With a
	// window it sees the last a.Window−1 tokens; a window is at least 2. a.Row and a.Sinks are not used.
	AttendPast(dst, q Buffer, c Cache, a Attention) error
}

// Past returns the attention that AttendPast computes, as attention of the last token of the cache. Position
// is that of this token. The row has no key of its own, so a window has one key fewer.
func (a Attention) Past() Attention {
	a.Row, a.Sinks = 0, nil
	a.Position--
	if a.Window > 0 {
		a.Window--
	}
	return a
}

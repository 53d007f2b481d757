package compute

// PastReader is an optional interface of a Backend: attention to the keys and values of a cache, for a row that
// has no key and value of its own. The assistant of Gemma 4 needs it to draft.
type PastReader interface {
	// ReservePast reserves the temporary memory for passes of one row that attends to layers of this shape. Call it
	// before AttendPast, outside of a pass.
	ReservePast(CacheShape) error
	// AttendPast writes attention of row 0 of q to row 0 of dst. The row stands at a.Position, which is the
	// cache's Len and at least 1, and attends to tokens of the cache only. AttendPast stores nothing. With
	// a window the row sees the last a.Window−1 tokens; a window is at least 2. a.Row and a.Sinks are not used.
	AttendPast(dst, q Buffer, c Cache, a Attention) error
}

// Past returns the attention that AttendPast computes, as attention of a row at the position of the cache's last
// token: such a row sees exactly the tokens of the cache. A window has one key fewer, because AttendPast's row has
// none of its own.
func (a Attention) Past() Attention {
	a.Row, a.Sinks = 0, nil
	a.Position--
	if a.Window > 0 {
		a.Window--
	}
	return a
}

package compute

// Partial is an optional interface of a Cache that cannot be cut back to every length: of a layer
// with a window it keeps a ring of rows, and of a recurrent layer one state. From rings the last
// CacheShape.Spare tokens can always be removed, from states those of the last pass (see
// CacheShape.Single), and all tokens from both. To go back further, the cache needs a checkpoint.
// The caller then reads again the tokens after the checkpoint, and gets the same bits.
type Partial interface {
	Cache
	// Reach returns the greatest length, at most n, to which Truncate can cut back.
	Reach(n int) int
	// Checkpoint makes it possible to go back to the present length later on. If there are
	// CacheShape.Checkpoints of them, the oldest goes. A Truncate to a smaller length removes it.
	Checkpoint() error
}

// Reach returns the greatest length, at most n, to which a cache can be cut back.
func Reach(c Cache, n int) int {
	if p, ok := c.(Partial); ok {
		return p.Reach(n)
	}
	return n
}

// Checkpoint makes sure that a cache can be cut back to its present length later on.
func Checkpoint(c Cache) error {
	if p, ok := c.(Partial); ok {
		return p.Checkpoint()
	}
	return nil
}

// apart is how many tokens before the end of a text the next text may begin to differ: those of the
// marks that open a reply. A template may write them differently once the reply is part of the
// text.
const apart = 32

// ReadWithCheckpoint calls read for ids, the tokens to append to a cache. If the cache is Partial it makes a
// checkpoint shortly before the end of ids, or before them if they are few, and calls read for what
// comes before it and after it. So a reply can be written again, or change when it becomes part of
// the text, without reading all of the text again. done is the number of ids before part.
func ReadWithCheckpoint(c Cache, ids []int32, read func(part []int32, done int) error) error {
	p, ok := c.(Partial)
	if !ok {
		return read(ids, 0)
	}
	first := max(0, len(ids)-apart)
	if first > 0 {
		if err := read(ids[:first], 0); err != nil {
			return err
		}
	}
	if err := p.Checkpoint(); err != nil {
		return err
	}
	return read(ids[first:], first)
}

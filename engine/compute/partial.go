package compute

// Partial is an optional interface of a Cache that cannot be cut back to every length. For a layer with
// a window such a cache keeps a ring of rows, and for a recurrent layer one state. From rings the last
// CacheShape.Spare tokens can always be removed, and from states the tokens of the last pass (see
// CacheShape.Single). All tokens can always be removed. To go back further, the cache needs a
// checkpoint; the caller then reads the tokens after the checkpoint again, which gives the same bits.
type Partial interface {
	Cache
	// Reach returns n if Truncate can cut back to n. Else it returns a smaller length to which Truncate
	// can cut back.
	Reach(n int) int
	// Checkpoint makes it possible to go back to the present length later. If there are already
	// CacheShape.Checkpoints, it drops the oldest. Truncate(n) drops the checkpoints of lengths above
	// n.
	Checkpoint() error
}

// Reach returns n if a cache can be cut back to n. Else it returns a smaller length to which the cache
// can be cut back.
func Reach(c Cache, n int) int {
	if p, ok := c.(Partial); ok {
		return p.Reach(n)
	}
	return n
}

// Checkpoint makes sure that a cache can be cut back to its present length later.
func Checkpoint(c Cache) error {
	if p, ok := c.(Partial); ok {
		return p.Checkpoint()
	}
	return nil
}

// apart is the number of tokens at the end of a prompt that the next prompt of the chat may have
// differently. A template may write the marks that open a reply differently once the reply is part of
// the text.
const apart = 32

// ReadWithCheckpoint calls read for ids, the tokens to append to a cache; done is the number of ids
// before part. For a Partial cache it makes a checkpoint before the last ids, as many as apart says: it calls
// read for the ids before the checkpoint, if there are any, and then for the rest. So most of the prompt need
// not be read again if the reply is written again, or if the prompt ends differently once the reply follows it.
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

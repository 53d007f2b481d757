package sim

import "fmt"

// asyncCopy is a copy that a lane has begun and not yet waited for.
type asyncCopy struct {
	lane, group  int
	to           uint64 // in shared memory
	from         uint64
	bytes, taken int // the size of the copy; the first taken bytes come from memory, the rest is zero
}

// asynchronousCopy compiles cp.async and the instructions that close its groups and wait for them.
// The data of a copy arrives only when it is waited for.
func (c *compiler) asynchronousCopy() execute {
	c.need("async")
	switch {
	case c.take("commit_group"):
		c.operands(0)
		return func(w *warp, lanes uint32) error {
			for ; lanes != 0; lanes &= lanes - 1 {
				w.committed[lowest(lanes)]++
			}
			return nil
		}
	case c.take("wait_all"):
		c.operands(0)
		return func(w *warp, lanes uint32) error { return w.land(lanes, -1) }
	case c.take("wait_group"):
		c.operands(1)
		n := int(c.immediate(0))
		return func(w *warp, lanes uint32) error { return w.land(lanes, n) }
	}
	cache := c.oneOf("ca", "cg")
	c.oneOf("shared", "shared::cta")
	c.need("global")
	for c.nextIs("L2::64B", "L2::128B", "L2::256B") {
		c.rest = c.rest[1:]
	}
	count := len(c.in.operands)
	if count != 3 && count != 4 {
		c.operands(3)
		return nil
	}
	to, from := c.address(0, sharedSpace), c.address(1, global)
	bytes := c.immediate(2)
	if bytes != 16 && (cache == "cg" || bytes != 4 && bytes != 8) {
		c.fail("cp.async.%s does not copy %d bytes", cache, bytes)
	}
	c.touches(sharedSpace, int(bytes))
	taken := c.kernel.constant(constant{value: bytes})
	if count == 4 {
		taken = c.from(3, u32)
	}
	return func(w *warp, lanes uint32) error {
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			copy := asyncCopy{lane: l, group: w.committed[l], to: w.registers[to.base][l] + to.offset,
				from: w.registers[from.base][l] + from.offset, bytes: int(bytes), taken: int(w.registers[taken][l])}
			if err := w.beginCopy(copy); err != nil {
				return err
			}
		}
		return nil
	}
}

// beginCopy checks source and target of a copy, and adds it to the list of copies. Until the copy is
// waited for, it is an error to use the target.
func (w *warp) beginCopy(c asyncCopy) error {
	if c.taken > c.bytes {
		return laneError{c.lane, fmt.Errorf("%d of %d bytes are taken", c.taken, c.bytes)}
	}
	if _, err := w.access(sharedSpace, c.to, c.bytes, c.lane, writing); err != nil {
		return err
	}
	if c.taken > 0 {
		if _, err := w.access(global, c.from, c.bytes, c.lane, reading); err != nil {
			return err
		}
	}
	w.block.setCopy(c, w.block.epoch)
	w.copies = append(w.copies, c)
	return nil
}

// setCopy sets the copyEpoch of a copy's target: the epoch in which the copy began, or 0 after its end.
func (b *block) setCopy(c asyncCopy, epoch uint32) {
	list := b.grains(int(c.to), c.bytes)
	for i := range list {
		list[i].copyEpoch = epoch
	}
}

// land ends the copies of lanes, except those of the n groups that were closed last. n = −1 ends all
// copies.
func (w *warp) land(lanes uint32, n int) error {
	kept := w.copies[:0]
	for _, c := range w.copies {
		if lanes>>c.lane&1 == 0 || n >= 0 && c.group >= w.committed[c.lane]-n {
			kept = append(kept, c)
			continue
		}
		w.block.setCopy(c, 0)
		to, err := w.access(sharedSpace, c.to, c.bytes, c.lane, writing)
		if err != nil {
			return err
		}
		clear(to)
		if c.taken > 0 {
			from, err := w.access(global, c.from, c.bytes, c.lane, reading)
			if err != nil {
				return err
			}
			copy(to, from[:c.taken])
		}
	}
	w.copies = kept
	return nil
}

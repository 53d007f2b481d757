package sim

import (
	"fmt"
	"math/bits"
)

// shuffle compiles shfl.sync: each lane reads a register of another lane. An optional predicate says
// whether the other lane was in range.
func (c *compiler) shuffle() execute {
	c.need("sync")
	mode := c.oneOf("up", "down", "bfly", "idx")
	c.need("b32")
	if !c.operands(5) {
		return nil
	}
	target := c.operand(0)
	inRange := -1
	if target.second != nil {
		inRange = c.toPredicate(*target.second)
		target.second = nil
	}
	d, a, b, limit := c.destination(target, b32, false), c.from(1, b32), c.from(2, b32), c.from(3, b32)
	c.step.flow, c.step.mask = meeting, c.from(4, b32)
	return func(w *warp, lanes uint32) error {
		old := w.registers[a]
		var ok uint32
		for m := lanes; m != 0; m &= m - 1 {
			l := lowest(m)
			from, valid := shuffleFrom(mode, l, int(w.registers[b][l]&31), int(w.registers[limit][l]))
			if lanes>>from&1 == 0 {
				return laneError{l, fmt.Errorf("a shuffle reads lane %d, which does not take part", from)}
			}
			if valid {
				ok |= 1 << l
			}
			w.registers[d][l] = old[from]
		}
		if inRange >= 0 {
			w.setPredicate(inRange, lanes, ok)
		}
		return nil
	}
}

// shuffleFrom returns the lane that a lane reads, and whether that is in range; if not, the lane
// reads itself. The low 5 bits of limit bound the range: the first lane for up, the last one for the
// other modes. The bits of limit from 8 on are a mask: these bits of a lane's number say to which
// part of the warp it belongs.
func shuffleFrom(mode string, lane, b, limit int) (from int, inRange bool) {
	segment := limit >> 8 & 31
	last := lane&segment | limit&31&^segment
	switch mode {
	case "up":
		from = lane - b
		inRange = from >= last
	case "down":
		from = lane + b
		inRange = from <= last
	case "bfly":
		from = lane ^ b
		inRange = from <= last
	case "idx":
		from = lane&segment | b&^segment
		inRange = from <= last
	}
	if !inRange {
		from = lane
	}
	return from, inRange
}

// vote compiles vote.sync.
func (c *compiler) vote() execute {
	c.need("sync")
	mode := c.oneOf("all", "any", "uni", "ballot")
	if mode == "ballot" {
		c.need("b32")
	} else {
		c.need("pred")
	}
	if !c.operands(3) {
		return nil
	}
	a := c.condition(1)
	c.step.flow, c.step.mask = meeting, c.from(2, b32)
	if mode == "ballot" {
		d := c.to(0, b32)
		return func(w *warp, lanes uint32) error {
			w.everywhere(d, lanes, uint64(a.holds(w)&lanes))
			return nil
		}
	}
	d := c.toPredicate(c.operand(0))
	return func(w *warp, lanes uint32) error {
		yes := a.holds(w) & lanes
		result := map[string]bool{"all": yes == lanes, "any": yes != 0, "uni": yes == lanes || yes == 0}[mode]
		value := uint32(0)
		if result {
			value = everyLane
		}
		w.setPredicate(d, lanes, value)
		return nil
	}
}

// everywhere gives all lanes of a collective the same value.
func (w *warp) everywhere(d int, lanes uint32, v uint64) {
	for ; lanes != 0; lanes &= lanes - 1 {
		w.registers[d][lowest(lanes)] = v
	}
}

// match compiles match.any.sync: it finds the lanes that have the same value.
func (c *compiler) match() execute {
	c.need("any")
	c.need("sync")
	t := c.typ("b32", "b64")
	if !c.operands(3) {
		return nil
	}
	d, a := c.to(0, b32), c.from(1, t)
	c.step.flow, c.step.mask = meeting, c.from(2, b32)
	return func(w *warp, lanes uint32) error {
		values := w.registers[a]
		for m := lanes; m != 0; m &= m - 1 {
			l := lowest(m)
			var same uint64
			for o := lanes; o != 0; o &= o - 1 {
				if k := lowest(o); values[k] == values[l] {
					same |= 1 << k
				}
			}
			w.registers[d][l] = same
		}
		return nil
	}
}

// reduce compiles redux.sync, on integers.
func (c *compiler) reduce() execute {
	c.need("sync")
	operation := c.oneOf("add", "min", "max", "and", "or", "xor")
	t := c.typ("b32", "u32", "s32")
	f := change(operation, t)
	if f == nil {
		c.fail("%s has no %v", operation, t)
	}
	if !c.operands(3) {
		return nil
	}
	d, a := c.to(0, t), c.from(1, t)
	c.step.flow, c.step.mask = meeting, c.from(2, b32)
	return func(w *warp, lanes uint32) error {
		l := bits.TrailingZeros32(lanes)
		result := w.registers[a][l]
		for m := lanes & (lanes - 1); m != 0; m &= m - 1 {
			result = f(result, w.registers[a][lowest(m)], 0) & t.mask()
		}
		w.everywhere(d, lanes, result)
		return nil
	}
}

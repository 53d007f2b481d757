package sim

import (
	"fmt"
	"math/bits"
	"slices"
)

// warp is 32 lanes, or fewer in the last warp of a block.
type warp struct {
	block      *block
	first      int // thread of lane 0
	count      int
	registers  []values
	predicates []uint32 // one bit per lane
	alive      uint32
	groups     []group
	local      [32][]byte
	copies     []asyncCopy
	committed  [32]int // number of closed groups of copies, by lane
	clock      uint32
	synced     [32][32]uint32 // for two lanes: the clock of their last common bar.warp.sync
	hint       allocation     // the allocation of the last access, which is tried first
	ran        uint64         // instructions in this block of the grid
}

type state byte

const (
	ready state = iota
	meetingOthers
	atBarrier
)

// group is a set of lanes at the same step.
type group struct {
	at    int
	lanes uint32
	state state
	mask  uint32 // in state meetingOthers: the lanes that the group waits for
}

func lowest(lanes uint32) int { return bits.TrailingZeros32(lanes) & 31 }

// run lets the warp's lanes go on until each has ended, is at a barrier, or waits for other lanes.
func (w *warp) run() error {
	for {
		g, stop, ok := w.pick()
		if !ok {
			return nil
		}
		if err := w.advance(g, stop); err != nil {
			return err
		}
	}
}

// pick merges all ready groups at the lowest place into one and returns it. stop is the place of the
// next ready group.
func (w *warp) pick() (g group, stop int, ok bool) {
	g.at = settled
	for _, other := range w.groups {
		if other.state == ready {
			g.at = min(g.at, other.at)
		}
	}
	stop = settled
	kept := w.groups[:0]
	for _, other := range w.groups {
		switch {
		case other.state == ready && other.at == g.at:
			g.lanes |= other.lanes
			continue
		case other.state == ready:
			stop = min(stop, other.at)
		}
		kept = append(kept, other)
	}
	w.groups = kept
	return g, stop, g.lanes != 0
}

// advance runs a group until it splits, waits, ends, or reaches stop, where other lanes are ready.
func (w *warp) advance(g group, stop int) error {
	code := w.block.kernel.code
	for g.at < stop {
		s := &code[g.at]
		w.ran++
		lanes := g.lanes
		if s.guard >= 0 {
			p := w.predicates[s.guard]
			if s.negated {
				p = ^p
			}
			lanes &= p
		}
		if s.flow == onward {
			if lanes != 0 {
				if err := s.execute(w, lanes); err != nil {
					return w.failure(s, lanes, err)
				}
			}
			g.at++
			continue
		}
		if lanes == 0 {
			g.at++
			continue
		}
		if s.flow == jump && lanes == g.lanes {
			g.at = s.targets[0]
			if w.ran > w.block.mostSteps {
				return w.failure(s, lanes,
					fmt.Errorf("more than %d instructions in one warp: an endless loop?", w.block.mostSteps))
			}
			continue
		}
		if s.flow == meeting && lanes == g.lanes && lanes == everyLane && w.maskIs(s, everyLane) {
			if err := s.execute(w, lanes); err != nil {
				return w.failure(s, lanes, err)
			}
			g.at++
			continue
		}
		if rest := g.lanes &^ lanes; rest != 0 {
			w.groups = append(w.groups, group{at: g.at + 1, lanes: rest})
		}
		return w.turn(s, g.at, lanes)
	}
	w.groups = append(w.groups, g)
	return nil
}

// turn carries out, for some lanes, a step that changes where they go on: a jump, an end, or a wait. It makes groups
// of the lanes that go on at the same step.
func (w *warp) turn(s *step, at int, lanes uint32) error {
	switch s.flow {
	case jump:
		w.groups = append(w.groups, group{at: s.targets[0], lanes: lanes})
	case table:
		for ; lanes != 0; lanes &= lanes - 1 {
			l := lowest(lanes)
			i := w.registers[s.selector][l]
			if i >= uint64(len(s.targets)) {
				return w.failure(s, 1<<l, fmt.Errorf("branch %d of a table of %d", i, len(s.targets)))
			}
			w.groups = append(w.groups, group{at: s.targets[i], lanes: 1 << l})
		}
	case finish:
		w.alive &^= lanes
		w.block.alive -= bits.OnesCount32(lanes)
		for i := range w.groups { // a group may have waited for a lane that has now ended
			if w.groups[i].state == meetingOthers {
				w.groups[i].state = ready
			}
		}
	case rendezvous:
		w.groups = append(w.groups, group{at: at, lanes: lanes, state: atBarrier})
		w.block.waiting += bits.OnesCount32(lanes)
	case meeting:
		return w.meet(s, at, lanes)
	}
	return nil
}

// maskIs reports whether a step waits for exactly these lanes.
func (w *warp) maskIs(s *step, lanes uint32) bool {
	if s.mask < 0 {
		return true
	}
	mask := &w.registers[s.mask]
	for l := range mask {
		if uint32(mask[l]) != lanes {
			return false
		}
	}
	return true
}

// meet joins lanes that arrive at a collective with lanes that already wait there. When all lanes of
// their mask that are still alive have arrived, it runs the collective.
func (w *warp) meet(s *step, at int, lanes uint32) error {
	for lanes != 0 {
		mask := everyLane
		same := lanes
		if s.mask >= 0 {
			mask = uint32(w.registers[s.mask][lowest(lanes)])
			for l := range 32 {
				if uint32(w.registers[s.mask][l]) != mask {
					same &^= 1 << l
				}
			}
		}
		lanes &^= same
		if same&^mask != 0 {
			return w.failure(s, same&^mask,
				fmt.Errorf("a lane takes part in a collective whose mask %08x leaves it out", mask))
		}
		arrived := same
		w.groups = slices.DeleteFunc(w.groups, func(g group) bool {
			joins := g.state == meetingOthers && g.at == at && g.mask == mask
			if joins {
				arrived |= g.lanes
			}
			return joins
		})
		if w.alive&mask&^arrived != 0 {
			w.groups = append(w.groups, group{at: at, lanes: arrived, state: meetingOthers, mask: mask})
			continue
		}
		if err := s.execute(w, arrived); err != nil {
			return w.failure(s, arrived, err)
		}
		w.groups = append(w.groups, group{at: at + 1, lanes: arrived})
	}
	return nil
}

// laneError says which lane an error is about.
type laneError struct {
	lane int
	error
}

func (w *warp) failure(s *step, lanes uint32, err error) error {
	thread := w.first + lowest(lanes)
	if e, ok := err.(laneError); ok {
		thread, err = w.first+e.lane, e.error
	}
	return fmt.Errorf("thread %d, line %d: %w: %s", thread, s.source.line, err, s.source.text)
}

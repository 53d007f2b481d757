package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// block is a running block of threads. It is reused for one block of the grid after another.
type block struct {
	kernel            *Kernel
	memory            *memory
	variables         map[*variable]Pointer // where the module's variables lie in global memory
	parameters        []byte
	size, grid, place Dim
	warps             []*warp
	registers         []values // the first content of every warp's registers
	order             []int    // in which the warps take turns
	threads           int
	alive, waiting    int
	mostSteps         uint64

	shared            []byte
	history           []history
	epoch, firstEpoch uint32 // see history: counts barriers and begun blocks; its value when this block began
}

func newBlock(l *launch) *block {
	b := &block{kernel: l.kernel, memory: l.memory, variables: l.variables, parameters: l.parameters,
		size: l.block, grid: l.grid,
		threads: l.block.count(), mostSteps: l.mostSteps}
	b.shared = make([]byte, l.kernel.sharedSize+l.sharedBytes)
	b.history = make([]history, len(b.shared)>>l.kernel.grain+1)
	b.registers = b.firstRegisters()
	for first := 0; first < b.threads; first += 32 {
		w := &warp{block: b, first: first, count: min(32, b.threads-first)}
		w.registers = make([]values, len(b.registers))
		w.predicates = make([]uint32, l.kernel.predicates)
		b.warps = append(b.warps, w)
		b.order = append(b.order, len(b.order))
	}
	return b
}

// run runs the block at that place of the grid.
func (b *block) run(place Dim, random *rand.Rand) error {
	b.begin(place)
	for b.alive > 0 {
		if random != nil {
			random.Shuffle(len(b.order), func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
		}
		for _, i := range b.order {
			if err := b.warps[i].run(); err != nil {
				return err
			}
		}
		if b.alive == 0 {
			break
		}
		if b.waiting != b.alive {
			return b.deadlock()
		}
		if err := b.openBarrier(); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) begin(place Dim) {
	b.place = place
	b.alive, b.waiting = b.threads, 0
	b.epoch++
	b.firstEpoch = b.epoch
	for i := range b.shared {
		b.shared[i] = 0xff
	}
	for _, w := range b.warps {
		w.alive = everyLane >> (32 - w.count)
		w.groups = append(w.groups[:0], group{lanes: w.alive})
		w.copies = w.copies[:0]
		w.committed = [32]int{}
		w.ran = 0
		w.fresh()
		for l := range w.count {
			if w.local[l] == nil {
				w.local[l] = make([]byte, b.kernel.localSize)
			}
			for i := range w.local[l] {
				w.local[l][i] = 0xff
			}
		}
	}
}

// openBarrier lets all threads go on. It fails unless all of them wait at the same barrier.
func (b *block) openBarrier() error {
	at := -1
	for _, w := range b.warps {
		for i := range w.groups {
			g := &w.groups[i]
			if at >= 0 && g.at != at {
				return fmt.Errorf("threads of one block are at different barriers:%s", b.whereabouts())
			}
			at = g.at
		}
	}
	for _, w := range b.warps {
		for i := range w.groups {
			w.groups[i].at++
			w.groups[i].state = ready
		}
	}
	b.waiting = 0
	b.epoch++
	return nil
}

func (b *block) deadlock() error {
	return errors.New("deadlock:" + b.whereabouts())
}

// whereabouts lists what the remaining threads wait for.
func (b *block) whereabouts() string {
	var list strings.Builder
	for _, w := range b.warps {
		for _, g := range w.groups {
			if list.Len() > 600 {
				return list.String() + " …"
			}
			s := b.kernel.code[g.at].source
			fmt.Fprintf(&list, " warp %d lanes %08x at line %d (%s)", w.first/32, g.lanes, s.line, s.text)
			if g.state == meetingOthers {
				fmt.Fprintf(&list, " wait for lanes %08x", g.mask&w.alive)
			}
			list.WriteByte(';')
		}
		if ended := everyLane >> (32 - w.count) &^ w.alive; ended != 0 && len(w.groups) > 0 {
			fmt.Fprintf(&list, " warp %d lanes %08x have ended;", w.first/32, ended)
		}
	}
	return strings.TrimSuffix(list.String(), ";")
}

// addressOf is the address of a variable in its own state space.
func (b *block) addressOf(v *variable) uint64 {
	if p, ok := b.variables[v]; ok {
		return uint64(p)
	}
	return uint64(b.kernel.offset(v))
}

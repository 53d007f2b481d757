// Package stream carries events from the goroutine of the engine to the screen.
//
// Invariant: the engine never waits for the screen, the screen does not redraw for every token,
// and nothing grows without bound. So events pass through a [Ring] of fixed size. Push never
// blocks. When a [Pump] says that a frame is due, the screen takes everything there is. When
// nothing happens, nothing runs.
//
// If events come faster than they are drawn, the ring drops some. A progress event replaces the newest
// event in the ring if that is earlier progress of the same model. A round replaces its own draft, which
// at full speed halves the number of events. If the ring is full, it drops the oldest event of the lowest rank:
// first progress and drafts, then rounds, then notices and changed settings, and last the events that
// open and close a reply. Lost rounds are counted. The text of the reply stays whole, because the event
// that ends the reply has all of it.
package stream

import (
	"sync"

	"specula/engine/event"
)

// DefaultCapacity is enough for the rounds of half a minute at 30 rounds per second, or for the rounds
// between two frames FrameInterval apart at 30,000 rounds per second.
const DefaultCapacity = 1024

// rank says how much is lost with an event: events of low rank are dropped first.
type rank int

const (
	lossy    rank = iota // progress or a draft: a later event says the same and more
	round                // a piece of the reply
	remark               // a notice or a changed setting
	terminal             // any other event, such as the start or the end of a reply
)

func rankOf(e event.Event) rank {
	switch e.(type) {
	case event.Loading, event.Prefill, event.Drafted:
		return lossy
	case event.Round:
		return round
	case event.Notice, event.SettingChanged:
		return remark
	default:
		return terminal
	}
}

// Ring is a bounded queue for one consumer. Any goroutine may push.
type Ring struct {
	mu       sync.Mutex
	events   []event.Event // oldest first, at most capacity
	capacity int
	lost     int // rounds dropped since the last Take
	closed   bool
	ready    chan struct{} // holds one value while there may be events to take
}

// NewRing returns a ring for at most capacity events, at least 1.
func NewRing(capacity int) *Ring {
	return &Ring{capacity: max(capacity, 1), ready: make(chan struct{}, 1)}
}

// Push adds an event and never blocks. After Close it does nothing.
func (r *Ring) Push(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if n := len(r.events); n > 0 && supersedes(e, r.events[n-1]) {
		r.events[n-1] = e
		return // ready was signalled for the event that e replaces
	}
	if len(r.events) == r.capacity && !r.makeRoom(rankOf(e)) {
		return
	}
	r.events = append(r.events, e)
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// supersedes reports whether next says everything that last said.
func supersedes(next, last event.Event) bool {
	switch n := next.(type) {
	case event.Prefill:
		l, ok := last.(event.Prefill)
		return ok && l.Model == n.Model
	case event.Loading:
		l, ok := last.(event.Loading)
		return ok && l.What == n.What
	case event.Round:
		l, ok := last.(event.Drafted)
		return ok && l.Round == n.Index
	}
	return false
}

// makeRoom drops the oldest event of the lowest rank and returns true. If the newcomer has a lower
// rank than every event in the ring, makeRoom returns false, and the newcomer must be dropped. A
// round that is dropped is counted as lost.
func (r *Ring) makeRoom(newcomer rank) bool {
	victim, lowest := -1, newcomer
	for i, e := range r.events {
		if k := rankOf(e); k < lowest || victim < 0 && k == lowest {
			victim, lowest = i, k
		}
		if lowest == lossy && victim >= 0 {
			break
		}
	}
	if lowest == round {
		r.lost++
	}
	if victim < 0 {
		return false
	}
	r.events = append(r.events[:victim], r.events[victim+1:]...)
	return true
}

// Take removes and returns all events, oldest first, and the number of rounds lost since the last
// Take.
func (r *Ring) Take() (events []event.Event, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, lost = r.events, r.lost
	r.events, r.lost = nil, 0
	return events, lost
}

// Close ends a waiting Pump. What is left in the ring can still be taken.
func (r *Ring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		close(r.ready)
	}
}
